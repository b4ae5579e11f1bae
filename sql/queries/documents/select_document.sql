-- `kept_from`: when what still answers was published, where the document failed since.
SELECT
    document.document_id,
    document.source,
    document.path,
    document.state,
    document.stage,
    document.reason,
    document.title,
    document.document_type,
    document.service,
    document.owner,
    document.language,
    document.document_date,
    document.status,
    document.pages,
    document.converter,
    document.metadata,
    document.origins,
    document.warnings,
    document.size_bytes,
    document.enriched,
    document.first_seen_at,
    document.indexed_at,
    CASE
        WHEN document.state NOT IN ('ok', 'partial') AND EXISTS (
            SELECT 1 FROM nightshift.chunk
            WHERE chunk.document_no = document.document_no
        ) THEN document.indexed_at
    END AS kept_from,
    (
        SELECT count(*) FROM nightshift.chunk
        WHERE chunk.document_no = document.document_no
    ) AS chunks
FROM nightshift.document
WHERE document.document_id = %(document_id)s
