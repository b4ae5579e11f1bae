INSERT INTO nightshift.ingest_item (
    run_id, document_id, batch, source, root, location, path, size_bytes, content_hash, staged, moved
)
SELECT
    %(run_id)s,
    new.document_id,
    new.batch,
    new.source,
    decode(new.root, 'hex') AS root,
    decode(new.location, 'hex') AS location,
    new.path,
    new.size_bytes,
    new.content_hash,
    new.staged,
    new.moved
FROM
    jsonb_to_recordset(%(items)s::jsonb) AS new (
        document_id text,
        batch integer,
        source text,
        root text,
        location text,
        path text,
        size_bytes bigint,
        content_hash text,
        staged boolean,
        moved boolean
    )
