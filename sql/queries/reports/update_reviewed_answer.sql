UPDATE reports.fact_answer
SET
    state = %(state)s, review = %(decision)s, reviewed_by = %(reviewed_by)s, reviewed_at = %(reviewed_at)s,
    review_note = %(note)s
WHERE batch = %(batch)s AND question_id = %(question_id)s AND run_date = %(run_date)s;
