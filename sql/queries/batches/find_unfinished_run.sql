SELECT run_id
FROM nightshift.batch_run
WHERE batch = %(batch)s AND run_date = %(run_date)s AND state = 'running'
ORDER BY started_at DESC
LIMIT 1;
