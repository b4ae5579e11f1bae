SELECT target
FROM nightshift.drift_decision
WHERE event_id = %(event_id)s AND decision = 'map'
ORDER BY decision_id DESC LIMIT 1
