WITH filtered AS (
    SELECT attribute.document_no
    FROM unnest(%(names)s::text[], %(values)s::text[]) AS filter (name, value)
    INNER JOIN nightshift.document_attribute AS attribute
        ON filter.name = attribute.name AND filter.value = attribute.value
    GROUP BY attribute.document_no
    HAVING count(*) = %(wanted)s
)

SELECT count(*) AS windows
FROM filtered
INNER JOIN nightshift.chunk_window AS piece ON filtered.document_no = piece.document_no
WHERE piece.version_no = %(version)s -- noqa: RF02
