-- For every run that waits for these documents, not only the one that publishes them.
UPDATE nightshift.ingest_item
SET
    staged = FALSE,
    state = CASE WHEN done.fault = '' THEN done.state ELSE 'quarantined' END,
    stage = CASE WHEN done.fault = '' THEN done.stage ELSE done.fault_stage END,
    reason = CASE WHEN done.fault = '' THEN done.reason ELSE done.fault END,
    chunks = CASE WHEN done.fault = '' THEN done.chunks ELSE 0 END,
    finished_at = now()
FROM nightshift.staged_document AS done
WHERE
    done.staged_no = any(%(staged)s)
    AND ingest_item.document_id = done.document_id
    AND ingest_item.state IS NULL
    AND ingest_item.staged
