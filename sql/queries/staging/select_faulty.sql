-- Staged documents that must not replace what is published of them: the checks refused them, or their file has no text now.
SELECT
    document_id,
    source,
    path,
    location,
    content_hash,
    size_bytes,
    pipeline_version,
    lexical_version,
    CASE WHEN fault = '' THEN state ELSE 'quarantined' END AS state,
    CASE WHEN fault = '' THEN stage ELSE fault_stage END AS stage,
    CASE WHEN fault = '' THEN reason ELSE fault END AS reason,
    title
FROM nightshift.staged_document
WHERE staged_no = any(%(staged)s)
