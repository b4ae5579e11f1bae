SELECT
    document_no,
    lexical_version
FROM nightshift.document
WHERE document_id = %(document_id)s
