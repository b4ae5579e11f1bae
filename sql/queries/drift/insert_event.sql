INSERT INTO nightshift.drift_event (
    warehouse, change_id, kind, object, table_name, severity, change, state, active, snapshot_id, opened_at,
    last_seen_at, closed_at, decided_by
) VALUES (
    %(warehouse)s, %(change_id)s, %(kind)s, %(object)s, %(table_name)s, %(severity)s, %(change)s, %(state)s, TRUE,
    %(snapshot_id)s, %(moment)s, %(moment)s, %(closed_at)s, %(actor)s
) RETURNING event_id
