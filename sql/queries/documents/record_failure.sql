-- A document that could not be processed this time keeps what was known of it; only its state changes.
INSERT INTO nightshift.document (
    document_id, source, path, location, content_hash, size_bytes, pipeline_version, lexical_version, state, stage,
    reason, title, last_run_id
)
VALUES (
    %(document_id)s, %(source)s, %(path)s, %(location)s, %(content_hash)s, %(size_bytes)s, %(pipeline_version)s,
    %(lexical_version)s, %(state)s, %(stage)s, %(reason)s, %(title)s, %(run_id)s
)
ON CONFLICT (document_id) DO UPDATE SET
    location = excluded.location,
    content_hash = excluded.content_hash,
    size_bytes = excluded.size_bytes,
    pipeline_version = excluded.pipeline_version,
    state = excluded.state,
    stage = excluded.stage,
    reason = excluded.reason,
    title = CASE
        WHEN EXISTS (
            SELECT 1 FROM nightshift.chunk
            WHERE chunk.document_no = document.document_no -- noqa: RF01
        ) THEN document.title
        ELSE excluded.title
    END,
    last_run_id = excluded.last_run_id
RETURNING document_no
