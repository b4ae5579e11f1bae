DELETE FROM nightshift.latest_answer
WHERE batch = %(batch)s AND (run_date = %(run_date)s OR question_id = any(%(question_ids)s));
