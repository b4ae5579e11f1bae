SELECT batch, run_date, publish, state, definition, started_at, outcome
FROM nightshift.batch_run
WHERE run_id = %(run_id)s;
