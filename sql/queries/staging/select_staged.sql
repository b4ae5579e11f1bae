SELECT
    document_id,
    location,
    content_hash,
    pipeline_version,
    version_no
FROM nightshift.staged_document
WHERE source = any(%(sources)s)
ORDER BY source, path
