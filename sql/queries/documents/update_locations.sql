UPDATE nightshift.document
SET location = new.location
FROM unnest(%(documents)s::integer[], %(locations)s::text[]) AS new (document_no, location)
WHERE document.document_no = new.document_no
