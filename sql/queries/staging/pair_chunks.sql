-- Chunks published of these documents beside those staged, paired where the text is the same. One without a chunk number
-- is new, one without an ordinal is gone. Of several equal ones the first is the first's, and so on.
WITH changed AS (
    SELECT
        document_no,
        staged_no,
        reuse
    FROM unnest(%(documents)s::integer[], %(staged)s::bigint[], %(reuse)s::boolean[])
        AS given (document_no, staged_no, reuse)
),

published AS (
    SELECT
        changed.document_no,
        chunk.chunk_no,
        chunk.terms,
        CASE WHEN changed.reuse THEN chunk.text_hash END AS text_hash,
        row_number() OVER (PARTITION BY chunk.document_no, chunk.text_hash ORDER BY chunk.ordinal) AS place
    FROM changed
    INNER JOIN nightshift.chunk ON changed.document_no = chunk.document_no
),

wanted AS (
    SELECT
        changed.document_no,
        changed.staged_no,
        piece.ordinal,
        piece.terms,
        piece.text_hash,
        row_number() OVER (PARTITION BY piece.staged_no, piece.text_hash ORDER BY piece.ordinal) AS place
    FROM changed
    INNER JOIN nightshift.staged_chunk AS piece ON changed.staged_no = piece.staged_no
)

SELECT
    published.chunk_no,
    wanted.document_no,
    wanted.staged_no,
    wanted.ordinal,
    coalesce(wanted.terms, 0) - coalesce(published.terms, 0) AS terms
FROM published
FULL JOIN wanted
    ON
        published.document_no = wanted.document_no
        AND published.text_hash = wanted.text_hash
        AND published.place = wanted.place
ORDER BY wanted.document_no, wanted.ordinal, published.chunk_no
