VACUUM (ANALYZE) nightshift.staged_document
