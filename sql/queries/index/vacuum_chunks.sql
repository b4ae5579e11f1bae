VACUUM (ANALYZE) nightshift.chunk
