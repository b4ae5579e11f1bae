SELECT
    document_id,
    source,
    path
FROM nightshift.document
WHERE enriched <> ''
ORDER BY source, path
