SELECT
    chunk.chunk_no,
    chunk.document_no,
    chunk.body,
    chunk.context
FROM nightshift.chunk
WHERE
    NOT EXISTS (
        SELECT 1 FROM nightshift.chunk_window
        WHERE chunk_window.version_no = %(wanted)s AND chunk_window.chunk_no = chunk.chunk_no -- noqa: RF02
    )
ORDER BY chunk.chunk_no
LIMIT %(chunks)s
