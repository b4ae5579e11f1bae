DELETE FROM nightshift.chunk
WHERE chunk_no = any(%(chunks)s)
