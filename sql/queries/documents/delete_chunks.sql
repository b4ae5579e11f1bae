DELETE FROM nightshift.chunk
WHERE chunk_no = ANY(%(chunks)s)
