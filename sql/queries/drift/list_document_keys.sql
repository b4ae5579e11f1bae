SELECT
    coalesce(d.document_type, '') AS document_type,
    k.name AS key_name,
    jsonb_typeof(k.content) AS value_type,
    count(*) AS documents
FROM nightshift.document AS d
CROSS JOIN LATERAL jsonb_each(d.metadata) AS k (name, content)
WHERE d.state IN ('ok', 'partial')
GROUP BY 1, 2, 3
ORDER BY 1, 2, 4 DESC, 3
