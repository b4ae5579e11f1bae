-- What may differ although the text is the same.
UPDATE nightshift.chunk
SET
    ordinal = piece.ordinal,
    heading_path = piece.heading_path,
    page = piece.page,
    kind = piece.kind,
    tokens = piece.tokens
FROM
    unnest(%(chunks)s::integer[], %(staged)s::bigint[], %(ordinals)s::integer[]) AS kept (chunk_no, staged_no, ordinal)
INNER JOIN nightshift.staged_chunk AS piece ON kept.staged_no = piece.staged_no AND kept.ordinal = piece.ordinal
WHERE chunk.chunk_no = kept.chunk_no
