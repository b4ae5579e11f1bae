-- What may differ although the text is the same.
UPDATE nightshift.chunk
SET
    ordinal = piece.ordinal,
    heading_path = piece.heading_path,
    page = piece.page,
    kind = piece.kind,
    tokens = piece.tokens
FROM (
    SELECT
        kept.chunk_no,
        kept.ordinal,
        staged.heading_path,
        staged.page,
        staged.kind,
        staged.tokens
    FROM unnest(%(chunks)s::integer[], %(staged)s::bigint[], %(ordinals)s::integer[])
        AS kept (chunk_no, staged_no, ordinal)
    INNER JOIN nightshift.staged_chunk AS staged ON kept.staged_no = staged.staged_no AND kept.ordinal = staged.ordinal
) AS piece
WHERE chunk.chunk_no = piece.chunk_no
