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
    AND kind IN (
        'column_renamed', 'column_removed', 'table_renamed', 'table_moved', 'table_removed', 'access_lost'
    )
    AND state NOT IN ('reverted', 'superseded')
    AND (object = %(name)s OR right(object, length(%(name)s) + 1) = '.' || %(name)s)
ORDER BY active DESC, event_id DESC LIMIT 20
