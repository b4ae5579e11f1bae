SELECT
    document_no,
    document_id,
    source,
    path,
    location,
    content_hash,
    pipeline_version,
    state,
    stage,
    reason
FROM nightshift.document
WHERE source = any(%(sources)s)
ORDER BY source, path
