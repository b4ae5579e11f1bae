SELECT
    term,
    term_no,
    chunks
FROM nightshift.term
WHERE term = any(%(terms)s)
