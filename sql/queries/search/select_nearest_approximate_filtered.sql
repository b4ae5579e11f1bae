-- The filter stands as a count so that the planner cannot turn it into a join: the graph gives vectors in order of
-- their distance, and each is looked up until enough have passed.
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
            SELECT count(*)
            FROM unnest(%(names)s::text[], %(values)s::text[]) AS filter (name, value)
            INNER JOIN nightshift.document_attribute AS attribute
                ON filter.name = attribute.name AND filter.value = attribute.value
            WHERE attribute.document_no = piece.document_no
        ) = %(wanted)s
    ORDER BY piece.embedding::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions})
    LIMIT %(windows)s
) AS nearest
GROUP BY chunk_no
ORDER BY cosine DESC, chunk_no ASC
LIMIT %(depth)s
