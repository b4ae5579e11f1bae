-- A vector that has gone from the cache since it was judged is no vector: the column refuses it, and so the document.
INSERT INTO nightshift.chunk_window (version_no, chunk_no, ordinal, document_no, embedding)
SELECT
    version.version_no,
    new.chunk_no,
    part.place - 1 AS ordinal,
    new.document_no,
    cached.embedding
FROM
    unnest(%(chunks)s::integer[], %(documents)s::integer[], %(staged)s::bigint[], %(ordinals)s::integer[]) -- noqa: RF02
        AS new (chunk_no, document_no, staged_no, ordinal)
INNER JOIN nightshift.staged_chunk AS piece ON new.staged_no = piece.staged_no AND new.ordinal = piece.ordinal
INNER JOIN nightshift.index_version AS version ON version.version_no = %(version_no)s -- noqa: RF02
CROSS JOIN LATERAL unnest(piece.windows) WITH ORDINALITY AS part (text_hash, place)
LEFT JOIN nightshift.embedding_cache AS cached
    ON version.model_id = cached.model_id AND part.text_hash = cached.text_hash
