SELECT
    event_id,
    change,
    state,
    snapshot_id,
    opened_at,
    last_seen_at,
    closed_at,
    decided_by,
    note,
    warehouse,
    active
FROM nightshift.drift_event
WHERE event_id::text = %(name)s OR change_id = %(name)s
ORDER BY active DESC, event_id DESC LIMIT 1
