INSERT INTO nightshift.drift_run (warehouse, status, actor, report)
VALUES (%(warehouse)s, %(status)s, %(actor)s, %(report)s)
