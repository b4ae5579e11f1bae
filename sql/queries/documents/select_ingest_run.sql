SELECT
    roots,
    complete,
    discovered,
    unchanged,
    moved,
    outcome,
    extract(EPOCH FROM now() - started_at)::float8 AS seconds
FROM nightshift.ingest_run
WHERE run_id = %(run_id)s
