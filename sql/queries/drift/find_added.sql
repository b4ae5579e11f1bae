SELECT event_id
FROM nightshift.drift_event
WHERE
    warehouse = %(warehouse)s
    AND kind IN ('table_added', 'column_added')
    AND object = %(object)s
    AND state NOT IN ('reverted', 'superseded')
ORDER BY event_id DESC LIMIT 1
