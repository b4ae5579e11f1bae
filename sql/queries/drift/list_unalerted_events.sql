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
WHERE active AND state = 'open' AND alerted_at IS NULL
ORDER BY event_id
FOR UPDATE
