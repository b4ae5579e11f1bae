SELECT count(*) FROM nightshift.chunk
WHERE
    NOT EXISTS (
        SELECT 1 FROM nightshift.chunk_window
        WHERE chunk_window.version_no = %(wanted)s AND chunk_window.chunk_no = chunk.chunk_no -- noqa: RF02
    )
