DELETE FROM nightshift.staged_document
WHERE staged_no = any(%(staged)s)
