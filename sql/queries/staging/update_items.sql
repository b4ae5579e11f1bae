UPDATE nightshift.ingest_item
SET
    staged = true,
    embeddings = done.embeddings,
    seconds = done.seconds
FROM
    jsonb_to_recordset(%(items)s::jsonb) AS done (
        document_id text,
        embeddings integer,
        seconds real
    )
WHERE ingest_item.run_id = %(run_id)s AND ingest_item.document_id = done.document_id
