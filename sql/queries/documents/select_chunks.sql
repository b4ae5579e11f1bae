SELECT
    document_no,
    chunk_no,
    text_hash,
    terms
FROM nightshift.chunk
WHERE document_no = any(%(documents)s)
ORDER BY document_no, ordinal
