-- What was staged of these documents before, except where it came of the same bytes in the same way.
DELETE FROM nightshift.staged_document
USING unnest(%(documents)s::text[], %(hashes)s::text[], %(versions)s::text[])
    AS new (document_id, content_hash, pipeline_version)
WHERE
    staged_document.document_id = new.document_id
    AND (staged_document.content_hash, staged_document.pipeline_version, staged_document.version_no)
    IS DISTINCT FROM (new.content_hash, new.pipeline_version, %(version_no)s::integer)
