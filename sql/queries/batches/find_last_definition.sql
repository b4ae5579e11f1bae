SELECT definition, run_date
FROM nightshift.batch_run
WHERE batch = %(batch)s AND state = 'finished'
ORDER BY started_at DESC
LIMIT 1;
