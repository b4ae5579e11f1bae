SELECT
    path,
    coalesce(state, 'unfinished') AS state,
    CASE WHEN staged THEN 'quality' ELSE stage END AS stage,
    CASE WHEN staged THEN 'converted, but neither judged nor published' ELSE reason END AS reason
FROM nightshift.ingest_item
WHERE run_id = %(run_id)s AND (state IS NULL OR state <> 'ok')
ORDER BY source, path
