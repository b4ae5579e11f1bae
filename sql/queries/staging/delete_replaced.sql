-- What was staged of these documents before, except where it came of the same bytes in the same way.
WITH wanted AS (
    SELECT
        document_id,
        content_hash,
        pipeline_version
    FROM unnest(%(documents)s::text[], %(contents)s::text[], %(makers)s::text[])
        AS given (document_id, content_hash, pipeline_version)
)

DELETE FROM nightshift.staged_document
USING wanted
WHERE
    staged_document.document_id = wanted.document_id
    AND (staged_document.content_hash, staged_document.pipeline_version, staged_document.version_no)
    IS DISTINCT FROM (wanted.content_hash, wanted.pipeline_version, %(version_no)s::integer)
