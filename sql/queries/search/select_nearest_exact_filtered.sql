-- Without the cast that the graph is built on, no graph can be used: every vector is compared.
SELECT
    chunk_no,
    max(cosine) AS cosine
FROM (
    SELECT
        chunk_no,
        -(embedding <#> %(vector)s::halfvec) AS cosine
    FROM nightshift.chunk_window
    WHERE
        version_no = %(version)s
        AND document_no = any(%(documents)s::integer[])
    ORDER BY embedding <#> %(vector)s::halfvec
    LIMIT %(windows)s
) AS nearest
GROUP BY chunk_no
ORDER BY cosine DESC, chunk_no ASC
LIMIT %(depth)s
