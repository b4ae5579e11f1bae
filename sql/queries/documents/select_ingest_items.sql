SELECT
    source,
    root,
    location,
    path,
    size_bytes,
    content_hash
FROM nightshift.ingest_item
WHERE run_id = %(run_id)s AND batch = %(batch)s AND state IS NULL AND NOT staged
ORDER BY source, path
