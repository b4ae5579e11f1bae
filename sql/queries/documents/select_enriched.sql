SELECT
    document_id,
    source,
    path,
    enriched
FROM nightshift.document
WHERE enriched <> '' AND (%(document_id)s::text IS NULL OR document_id = %(document_id)s)
ORDER BY source, path
