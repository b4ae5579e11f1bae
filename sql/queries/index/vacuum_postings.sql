VACUUM (ANALYZE) nightshift.posting
