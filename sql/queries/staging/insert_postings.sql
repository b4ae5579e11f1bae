-- Returns how many of the new chunks hold each term.
WITH added AS (
    INSERT INTO nightshift.posting (term_no, chunk_no, document_no, frequency, terms)
    SELECT
        term.term_no,
        new.chunk_no,
        new.document_no,
        held.frequency,
        piece.terms
    FROM
        unnest(%(chunks)s::integer[], %(documents)s::integer[], %(staged)s::bigint[], %(ordinals)s::integer[]) -- noqa: RF02
            AS new (chunk_no, document_no, staged_no, ordinal)
    INNER JOIN nightshift.staged_chunk AS piece ON new.staged_no = piece.staged_no AND new.ordinal = piece.ordinal
    CROSS JOIN LATERAL unnest(piece.words, piece.frequencies) AS held (word, frequency)
    INNER JOIN nightshift.term ON held.word = term.term
    RETURNING term_no
)

SELECT
    term_no,
    count(*)::integer AS chunks
FROM added
GROUP BY term_no
ORDER BY term_no
