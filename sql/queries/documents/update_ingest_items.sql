UPDATE nightshift.ingest_item
SET
    state = done.state,
    stage = done.stage,
    reason = done.reason,
    chunks = done.chunks,
    embeddings = done.embeddings,
    seconds = done.seconds,
    finished_at = now()
FROM
    jsonb_to_recordset(%(items)s::jsonb) AS done (
        document_id text,
        state text,
        stage text,
        reason text,
        chunks integer,
        embeddings integer,
        seconds real
    )
WHERE ingest_item.run_id = %(run_id)s AND ingest_item.document_id = done.document_id
