SELECT
    chunk.chunk_no,
    chunk.body,
    chunk.context,
    chunk.heading_path,
    chunk.page,
    chunk.ordinal,
    chunk.kind,
    document.document_no,
    document.document_id,
    document.path,
    document.source,
    document.title,
    document.document_type,
    document.service,
    document.owner,
    document.language,
    document.document_date,
    document.status,
    document.state,
    document.metadata
FROM nightshift.chunk
INNER JOIN nightshift.document ON chunk.document_no = document.document_no
WHERE chunk.chunk_no = any(%(numbers)s::integer[]) -- noqa: RF02
