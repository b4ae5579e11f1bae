VACUUM (ANALYZE) nightshift.document
