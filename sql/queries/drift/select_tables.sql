SELECT
    digest,
    content
FROM nightshift.schema_table
WHERE digest = any(%(digests)s::text [])
ORDER BY digest
