DELETE FROM nightshift.document_attribute
WHERE document_no = any(%(documents)s)
