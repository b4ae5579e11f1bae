SELECT
    event_id,
    change,
    state,
    snapshot_id,
    opened_at,
    last_seen_at,
    closed_at,
    decided_by,
    note
FROM nightshift.drift_event
WHERE (%(state)s::text IS NULL OR state = %(state)s) AND (%(object)s::text IS NULL OR object = %(object)s)
ORDER BY event_id DESC LIMIT %(event_count)s
