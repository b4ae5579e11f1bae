INSERT INTO nightshift.batch_run (run_id, batch, run_date, publish, state, definition)
VALUES (%(run_id)s, %(batch)s, %(run_date)s, %(publish)s, 'running', %(definition)s);
