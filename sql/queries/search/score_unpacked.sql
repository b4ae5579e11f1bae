-- Chunks that no segment covers yet, by their rows. The index on the term leads to them in one step.
SELECT
    posting.chunk_no,
    posting.document_no,
    sum(
        query.weight * posting.frequency / (posting.frequency + %(base)s::float8 + %(slope)s::float8 * posting.terms)
    ) AS score
FROM unnest(%(terms)s::integer[], %(weights)s::float8[]) AS query (term_no, weight)
INNER JOIN nightshift.posting ON query.term_no = posting.term_no AND posting.chunk_no > %(after)s
GROUP BY posting.chunk_no, posting.document_no
ORDER BY score DESC, posting.chunk_no ASC
LIMIT %(depth)s
