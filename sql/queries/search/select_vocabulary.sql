SELECT
    attribute.name,
    attribute.value,
    count(*) AS documents
FROM nightshift.document_attribute AS attribute
WHERE attribute.name IN ('document_type', 'service')
GROUP BY attribute.name, attribute.value
ORDER BY attribute.name, attribute.value
