INSERT INTO nightshift.ingest_run (run_id, roots, source, complete, discovered, unchanged, moved, outcome)
VALUES (
    %(run_id)s, %(roots)s, %(source)s, %(complete)s, %(discovered)s, %(unchanged)s, %(moved)s, %(outcome)s
)
