UPDATE nightshift.batch_run
SET state = %(state)s, finished_at = now(), outcome = %(outcome)s
WHERE run_id = %(run_id)s;
