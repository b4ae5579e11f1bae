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
    AND active
    AND severity IN ('breaking', 'risky')
    AND state IN ('open', 'rejected')
    AND (
        table_name = any(%(tables)s)
        OR kind IN ('column_renamed', 'column_recreated', 'table_renamed', 'table_moved', 'table_recreated')
    )
ORDER BY event_id
