SELECT attribute.document_no
FROM unnest(%(names)s::text[], %(values)s::text[]) AS filter (name, value)
INNER JOIN nightshift.document_attribute AS attribute
    ON filter.name = attribute.name AND filter.value = attribute.value
GROUP BY attribute.document_no
HAVING count(*) = %(wanted)s
ORDER BY attribute.document_no
