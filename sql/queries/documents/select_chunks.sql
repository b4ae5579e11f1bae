SELECT
    chunk_no,
    ordinal,
    text_hash,
    terms
FROM nightshift.chunk
WHERE document_no = %(document_no)s
ORDER BY ordinal
