UPDATE nightshift.chunk
SET
    ordinal = changed.ordinal,
    heading_path = changed.heading_path,
    page = changed.page,
    kind = changed.kind,
    tokens = changed.tokens
FROM
    jsonb_to_recordset(%(chunks)s::jsonb) AS changed (
        chunk_no integer,
        ordinal integer,
        heading_path text [],
        page integer,
        kind text,
        tokens integer
    )
WHERE chunk.chunk_no = changed.chunk_no
