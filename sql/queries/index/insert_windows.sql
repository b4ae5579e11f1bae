-- A chunk may have been removed since it was read: it is left out.
INSERT INTO nightshift.chunk_window (version_no, chunk_no, ordinal, document_no, embedding)
SELECT
    version.version_no,
    new.chunk_no,
    new.ordinal,
    new.document_no,
    cached.embedding
FROM
    unnest(%(chunks)s::integer[], %(documents)s::integer[], %(ordinals)s::smallint[], %(digests)s::bytea[]) -- noqa: RF02
        AS new (chunk_no, document_no, ordinal, text_hash)
INNER JOIN nightshift.index_version AS version ON version.version_no = %(version_no)s -- noqa: RF02
INNER JOIN nightshift.embedding_cache AS cached
    ON version.model_id = cached.model_id AND new.text_hash = cached.text_hash
WHERE
    EXISTS (
        SELECT 1 FROM nightshift.chunk
        WHERE chunk.chunk_no = new.chunk_no
    )
ON CONFLICT DO NOTHING
