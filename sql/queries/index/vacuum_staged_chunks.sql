VACUUM (ANALYZE) nightshift.staged_chunk
