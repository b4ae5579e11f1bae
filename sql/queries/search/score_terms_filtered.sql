SELECT
    posting.chunk_no,
    sum(
        query.weight * posting.frequency / (posting.frequency + %(base)s::float8 + %(slope)s::float8 * posting.terms)
    ) AS score
FROM unnest(%(terms)s::integer[], %(weights)s::float8[]) AS query (term_no, weight)
INNER JOIN nightshift.posting ON query.term_no = posting.term_no
WHERE posting.document_no = any(%(documents)s::integer[])
GROUP BY posting.chunk_no
ORDER BY score DESC, posting.chunk_no ASC
LIMIT %(depth)s
