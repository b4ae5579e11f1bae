WITH gone AS (
    DELETE FROM nightshift.posting
    WHERE chunk_no = any(%(chunks)s)
    RETURNING term_no
)

SELECT
    term_no,
    count(*)::integer AS chunks
FROM gone
GROUP BY term_no
ORDER BY term_no
