UPDATE nightshift.drift_event SET last_seen_at = greatest(last_seen_at, %(moment)s)
WHERE event_id = any(%(event_ids)s::bigint [])
