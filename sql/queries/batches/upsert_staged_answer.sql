INSERT INTO nightshift.staged_answer (run_id, question_id, answer)
VALUES (%(run_id)s, %(question_id)s, %(answer)s)
ON CONFLICT (run_id, question_id) DO UPDATE SET answer = excluded.answer, answered_at = now();
