SELECT state, reason, review, reviewed_by, reviewed_at, review_note
FROM reports.fact_answer
WHERE
    batch = %(batch)s AND question_id = %(question_id)s AND run_date = %(run_date)s AND run_id = %(run_id)s;
