INSERT INTO nightshift.document_attribute (document_no, name, value)
SELECT
    new.document_no,
    new.name,
    new.value
FROM unnest(%(documents)s::integer[], %(names)s::text[], %(values)s::text[]) AS new (document_no, name, value)
ON CONFLICT DO NOTHING
