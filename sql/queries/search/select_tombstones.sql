SELECT chunk_no
FROM nightshift.posting_tombstone
ORDER BY chunk_no
