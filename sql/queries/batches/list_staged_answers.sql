SELECT question_id, answer, answered_at
FROM nightshift.staged_answer
WHERE run_id = %(run_id)s
ORDER BY question_id;
