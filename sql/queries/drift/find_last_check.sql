SELECT
    warehouse,
    status,
    finished_at > clock_timestamp() - make_interval(mins => %(minutes)s) AS is_fresh
FROM nightshift.drift_run
WHERE starts_with(warehouse, %(prefix)s)
ORDER BY run_id DESC LIMIT 1
