INSERT INTO nightshift.staged_document (
    document_id, version_no, source, path, location, content_hash, size_bytes, pipeline_version, lexical_version, state,
    stage, reason, title, document_type, service, owner, language, document_date, status, pages, converter, metadata,
    origins, warnings, enriched, attribute_names, attribute_values, chunks
)
VALUES (
    %(document_id)s, %(version_no)s, %(source)s, %(path)s, %(location)s, %(content_hash)s, %(size_bytes)s,
    %(pipeline_version)s, %(lexical_version)s, %(state)s, %(stage)s, %(reason)s, %(title)s, %(document_type)s,
    %(service)s, %(owner)s, %(language)s, %(document_date)s, %(status)s, %(pages)s, %(converter)s, %(metadata)s,
    %(origins)s, %(warnings)s, %(enriched)s, %(attribute_names)s, %(attribute_values)s, %(chunks)s
)
ON CONFLICT (document_id) DO NOTHING
RETURNING staged_no
