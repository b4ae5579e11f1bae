VACUUM (ANALYZE) nightshift.chunk_window
