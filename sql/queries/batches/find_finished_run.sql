SELECT definition, outcome
FROM nightshift.batch_run
WHERE run_id = %(run_id)s AND state = 'finished';
