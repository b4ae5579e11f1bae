SELECT count(*)::integer AS chunks
FROM nightshift.chunk
WHERE chunk_no > %(after)s
