VACUUM (ANALYZE) nightshift.term
