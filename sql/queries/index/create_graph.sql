CREATE INDEX CONCURRENTLY {index} ON nightshift.chunk_window
USING hnsw ((embedding::halfvec({dimensions})) halfvec_ip_ops)
WHERE version_no = {version}
