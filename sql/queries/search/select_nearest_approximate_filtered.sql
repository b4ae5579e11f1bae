SELECT
    chunk_no,
    max(cosine) AS cosine
FROM (
    SELECT
        chunk_no,
        -(embedding::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions})) AS cosine
    FROM nightshift.chunk_window
    WHERE
        version_no = {version}
        AND document_no = any(%(documents)s::integer[])
    ORDER BY embedding::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions})
    LIMIT %(windows)s
) AS nearest
GROUP BY chunk_no
ORDER BY cosine DESC, chunk_no ASC
LIMIT %(depth)s
