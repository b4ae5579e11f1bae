SELECT
    event_id,
    decision,
    target,
    actor,
    note,
    decided_at
FROM nightshift.drift_decision
ORDER BY decision_id DESC LIMIT %(event_count)s
