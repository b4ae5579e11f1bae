UPDATE nightshift.ingest_run
SET
    finished_at = now(),
    removed = %(removed)s,
    -- the plan stays beside it, so that a step that died after this one can be repeated
    outcome = outcome || %(outcome)s::jsonb
WHERE run_id = %(run_id)s
