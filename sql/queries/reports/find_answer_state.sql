SELECT state, fingerprint, run_id, reason, review
FROM reports.fact_answer
WHERE batch = %(batch)s AND question_id = %(question_id)s AND run_date = %(run_date)s;
