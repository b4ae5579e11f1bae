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
    document.document_date,
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
WHERE
    (%(state)s::text IS NULL OR document.state = %(state)s)
    AND (
        %(words)s::text IS NULL
        OR strpos(lower(document.title), lower(%(words)s)) > 0
        OR strpos(lower(document.path), lower(%(words)s)) > 0
    )
ORDER BY document.source, document.path
LIMIT %(page_size)s OFFSET %(skipped)s
