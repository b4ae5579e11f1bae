SELECT
    coalesce(d.document_type, '') AS document_type,
    count(*) AS documents
FROM nightshift.document AS d
WHERE d.state IN ('ok', 'partial')
GROUP BY 1
ORDER BY 1
