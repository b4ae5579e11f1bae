UPDATE nightshift.ingest_run
SET
    finished_at = now(),
    removed = %(removed)s,
    outcome = %(outcome)s
WHERE run_id = %(run_id)s
