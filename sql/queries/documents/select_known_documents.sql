-- `kept`: it failed, and what was published of it before still answers.
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
    reason,
    state NOT IN ('ok', 'partial') AND EXISTS (
        SELECT 1 FROM nightshift.chunk
        WHERE chunk.document_no = document.document_no
    ) AS kept
FROM nightshift.document
WHERE source = any(%(sources)s)
ORDER BY source, path
