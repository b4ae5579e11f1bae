INSERT INTO nightshift.document_attribute (document_no, name, value)
SELECT
    %(document_no)s,
    new.name,
    new.value
FROM unnest(%(names)s::text[], %(values)s::text[]) AS new (name, value)
ON CONFLICT DO NOTHING
