SELECT answer
FROM nightshift.staged_answer
WHERE run_id = %(run_id)s AND question_id = %(question_id)s;
