SELECT
    path,
    coalesce(state, 'unfinished') AS state,
    stage,
    reason
FROM nightshift.ingest_item
WHERE run_id = %(run_id)s AND (state IS NULL OR state <> 'ok')
ORDER BY source, path
