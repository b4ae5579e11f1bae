SELECT
    chunk.chunk_no,
    chunk.document_no,
    chunk.ordinal,
    document.source,
    document.path,
    document.title,
    document.document_type,
    document.service,
    document.document_date,
    document.status
FROM nightshift.chunk
INNER JOIN nightshift.document ON chunk.document_no = document.document_no
WHERE chunk.chunk_no = any(%(numbers)s::integer[]) -- noqa: RF02
