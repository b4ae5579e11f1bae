INSERT INTO nightshift.term (term)
SELECT DISTINCT held.word
FROM unnest(%(staged)s::bigint[], %(ordinals)s::integer[]) AS new (staged_no, ordinal)
INNER JOIN nightshift.staged_chunk AS piece ON new.staged_no = piece.staged_no AND new.ordinal = piece.ordinal
CROSS JOIN LATERAL unnest(piece.words) AS held (word)
WHERE NOT EXISTS (
    SELECT 1 FROM nightshift.term
    WHERE term.term = held.word
)
ORDER BY held.word
