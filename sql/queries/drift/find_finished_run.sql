SELECT report FROM nightshift.drift_run
WHERE finished_at >= %(requested_at)s AND status <> 'incomplete' AND starts_with(warehouse, %(prefix)s)
ORDER BY run_id DESC LIMIT 1
