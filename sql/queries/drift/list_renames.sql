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
WHERE
    warehouse = %(warehouse)s
    AND kind IN ('column_renamed', 'table_renamed', 'table_moved')
    AND state IN ('open', 'accepted')
ORDER BY event_id
