INSERT INTO nightshift.join_decision (warehouse, left_side, right_side, verdict, actor, note, decided_at)
VALUES (%(warehouse)s, %(left_side)s, %(right_side)s, %(verdict)s, %(actor)s, %(note)s, %(moment)s)
ON CONFLICT (warehouse, left_side, right_side) DO UPDATE
SET verdict = excluded.verdict, actor = excluded.actor, note = excluded.note, decided_at = excluded.decided_at
