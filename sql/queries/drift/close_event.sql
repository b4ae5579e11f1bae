UPDATE nightshift.drift_event
SET
    active = %(active)s,
    state = %(state)s,
    closed_at = coalesce(closed_at, %(moment)s),
    decided_by = %(actor)s,
    note = CASE WHEN %(note)s <> '' THEN %(note)s ELSE note END
WHERE event_id = %(event_id)s
