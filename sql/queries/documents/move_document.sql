-- What follows from the path is made anew by the run: until then it is a document of no version.
UPDATE nightshift.document
SET
    document_id = %(document_id)s,
    path = %(path)s,
    location = %(location)s,
    pipeline_version = '',
    last_run_id = %(run_id)s
WHERE document_id = %(old_document_id)s
RETURNING document_no
