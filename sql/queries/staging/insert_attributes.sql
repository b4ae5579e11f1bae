INSERT INTO nightshift.document_attribute (document_no, name, value)
SELECT
    changed.document_no,
    attribute.name,
    attribute.value
FROM unnest(%(documents)s::integer[], %(staged)s::bigint[]) AS changed (document_no, staged_no)
INNER JOIN nightshift.staged_document AS staged ON changed.staged_no = staged.staged_no
INNER JOIN LATERAL unnest(staged.attribute_names, staged.attribute_values) AS attribute (name, value) ON TRUE
ON CONFLICT DO NOTHING
