-- As with several conditions, but a single one needs no more than a look into an index for each vector.
SELECT
    chunk_no,
    max(cosine) AS cosine
FROM (
    SELECT
        piece.chunk_no,
        -(piece.embedding::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions})) AS cosine
    FROM nightshift.chunk_window AS piece
    WHERE
        piece.version_no = {version}
        AND (
            SELECT true
            FROM nightshift.document_attribute AS attribute
            WHERE
                attribute.name = %(name)s
                AND attribute.value = %(value)s
                AND attribute.document_no = piece.document_no
        )
    ORDER BY piece.embedding::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions})
    LIMIT %(windows)s
) AS nearest
GROUP BY chunk_no
ORDER BY cosine DESC, chunk_no ASC
LIMIT %(depth)s
