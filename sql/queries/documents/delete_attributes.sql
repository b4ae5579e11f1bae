DELETE FROM nightshift.document_attribute
WHERE document_no = %(document_no)s
