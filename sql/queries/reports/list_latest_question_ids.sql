SELECT question_id FROM nightshift.latest_answer
WHERE batch = %(batch)s AND run_date = %(run_date)s;
