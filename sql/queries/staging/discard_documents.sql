-- Work that was staged and is wanted no more; a run that waits for it has it to do again.
WITH gone AS (
    DELETE FROM nightshift.staged_document
    WHERE document_id = any(%(documents)s)
    RETURNING document_id
)

UPDATE nightshift.ingest_item
SET staged = FALSE
FROM gone
WHERE ingest_item.document_id = gone.document_id AND ingest_item.state IS NULL AND ingest_item.staged
