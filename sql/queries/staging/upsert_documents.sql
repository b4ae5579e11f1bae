INSERT INTO nightshift.document (
    document_id, source, path, location, content_hash, size_bytes, pipeline_version, lexical_version, state, stage,
    reason, title, document_type, service, owner, language, document_date, status, pages, converter, metadata,
    origins, warnings, enriched, last_run_id
)
SELECT
    document_id,
    source,
    path,
    location,
    content_hash,
    size_bytes,
    pipeline_version,
    lexical_version,
    state,
    stage,
    reason,
    title,
    document_type,
    service,
    owner,
    language,
    document_date,
    status,
    pages,
    converter,
    metadata,
    origins,
    warnings,
    enriched,
    %(run_id)s AS last_run_id
FROM nightshift.staged_document
WHERE staged_no = any(%(staged)s)
ORDER BY source, path
ON CONFLICT (document_id) DO UPDATE SET
    location = excluded.location,
    content_hash = excluded.content_hash,
    size_bytes = excluded.size_bytes,
    pipeline_version = excluded.pipeline_version,
    lexical_version = excluded.lexical_version,
    state = excluded.state,
    stage = excluded.stage,
    reason = excluded.reason,
    title = excluded.title,
    document_type = excluded.document_type,
    service = excluded.service,
    owner = excluded.owner,
    language = excluded.language,
    document_date = excluded.document_date,
    status = excluded.status,
    pages = excluded.pages,
    converter = excluded.converter,
    metadata = excluded.metadata,
    origins = excluded.origins,
    warnings = excluded.warnings,
    enriched = excluded.enriched,
    indexed_at = now(),
    last_run_id = excluded.last_run_id
RETURNING document_id, document_no
