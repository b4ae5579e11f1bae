SELECT
    a.event_id,
    a.owner,
    a.channel
FROM nightshift.drift_alert AS a
INNER JOIN nightshift.drift_event AS e ON a.event_id = e.event_id
WHERE e.alerted_at IS NULL
