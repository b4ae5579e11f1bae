SELECT answer -> 'usage'
FROM nightshift.staged_answer
WHERE run_id = %(run_id)s;
