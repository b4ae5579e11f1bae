SELECT
    document_no,
    document_id,
    location
FROM nightshift.document
WHERE document_no = any(%(documents)s)
ORDER BY document_no
