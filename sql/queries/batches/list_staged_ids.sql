SELECT question_id FROM nightshift.staged_answer WHERE run_id = %(run_id)s;
