DELETE FROM nightshift.document
WHERE document_no = %(document_no)s
