SELECT
    document_id,
    source,
    path,
    location,
    content_hash,
    size_bytes,
    pipeline_version,
    lexical_version,
    'quarantined' AS state,
    fault_stage AS stage,
    fault AS reason,
    title
FROM nightshift.staged_document
WHERE staged_no = any(%(staged)s)
