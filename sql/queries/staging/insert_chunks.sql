INSERT INTO nightshift.chunk (
    document_no, ordinal, body, context, heading_path, page, kind, tokens, terms, text_hash
)
SELECT
    new.document_no,
    piece.ordinal,
    piece.body,
    piece.context,
    piece.heading_path,
    piece.page,
    piece.kind,
    piece.tokens,
    piece.terms,
    piece.text_hash
FROM
    unnest(%(documents)s::integer[], %(staged)s::bigint[], %(ordinals)s::integer[])
        AS new (document_no, staged_no, ordinal)
INNER JOIN nightshift.staged_chunk AS piece ON new.staged_no = piece.staged_no AND new.ordinal = piece.ordinal
ORDER BY new.document_no, new.ordinal
RETURNING document_no, ordinal, chunk_no
