SELECT
    chunk_no,
    array_agg(term_no) AS terms
FROM nightshift.posting
WHERE term_no = any(%(terms)s::integer[]) AND chunk_no = any(%(chunks)s::integer[])
GROUP BY chunk_no
