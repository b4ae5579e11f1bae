INSERT INTO nightshift.chunk_window (version_no, chunk_no, ordinal, document_no, embedding)
SELECT
    %(version_no)s,
    new.chunk_no,
    new.ordinal,
    new.document_no,
    new.embedding::halfvec
FROM
    unnest(%(chunks)s::integer[], %(documents)s::integer[], %(ordinals)s::smallint[], %(vectors)s::text[])
        AS new (chunk_no, document_no, ordinal, embedding)
WHERE
    EXISTS (
        SELECT 1 FROM nightshift.chunk
        WHERE chunk.chunk_no = new.chunk_no
    )
ON CONFLICT DO NOTHING
