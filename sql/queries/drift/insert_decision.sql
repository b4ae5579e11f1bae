INSERT INTO nightshift.drift_decision (event_id, decision, target, actor, note, decided_at)
VALUES (%(event_id)s, %(decision)s, %(target)s, %(actor)s, %(note)s, %(moment)s)
