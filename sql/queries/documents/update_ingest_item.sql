UPDATE nightshift.ingest_item
SET
    state = %(state)s,
    stage = %(stage)s,
    reason = %(reason)s,
    chunks = %(chunks)s,
    embeddings = %(embeddings)s,
    seconds = %(seconds)s,
    finished_at = now()
WHERE run_id = %(run_id)s AND document_id = %(document_id)s
