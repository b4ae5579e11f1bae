INSERT INTO nightshift.rename_decision (warehouse, before_object, after_object, verdict, actor, decided_at)
VALUES (%(warehouse)s, %(before_object)s, %(after_object)s, %(verdict)s, %(actor)s, %(moment)s)
ON CONFLICT (warehouse, before_object, after_object) DO UPDATE
SET verdict = excluded.verdict, actor = excluded.actor, decided_at = excluded.decided_at
