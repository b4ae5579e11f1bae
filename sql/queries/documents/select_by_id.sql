SELECT
    location,
    source,
    path
FROM nightshift.document
WHERE document_id = %(document_id)s
