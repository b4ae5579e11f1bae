UPDATE nightshift.document_attribute
SET value = %(path)s
WHERE document_no = %(document_no)s AND name = 'path'
