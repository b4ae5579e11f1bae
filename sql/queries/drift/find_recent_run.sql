SELECT max(finished_at) > clock_timestamp() - make_interval(secs => %(seconds)s) AS is_recent
FROM nightshift.drift_run
WHERE warehouse = %(warehouse)s AND status <> 'incomplete'
