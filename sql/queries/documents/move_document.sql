UPDATE nightshift.document
SET
    document_id = %(document_id)s,
    path = %(path)s,
    location = %(location)s,
    last_run_id = %(run_id)s
WHERE document_id = %(old_document_id)s
RETURNING document_no
