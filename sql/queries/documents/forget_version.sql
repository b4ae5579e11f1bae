-- A document of no version is converted again by the next run.
UPDATE nightshift.document
SET pipeline_version = ''
WHERE document_id = %(document_id)s
