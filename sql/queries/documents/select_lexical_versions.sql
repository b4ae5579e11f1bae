SELECT
    document_id,
    lexical_version
FROM nightshift.document
WHERE document_id = any(%(document_ids)s)
