UPDATE nightshift.drift_event SET active = FALSE
WHERE event_id = any(%(event_ids)s::bigint [])
