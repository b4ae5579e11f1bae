UPDATE nightshift.drift_event SET alerted_at = %(moment)s
WHERE event_id = any(%(event_ids)s::bigint []) AND alerted_at IS NULL
