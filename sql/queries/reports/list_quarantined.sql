SELECT batch, question_id, run_date, question, answer, reason, review, reviewed_by
FROM reports.fact_answer
WHERE
    state = 'quarantined' AND (%(batch)s::text IS NULL OR batch = %(batch)s)
    AND (%(run_date)s::date IS NULL OR run_date = %(run_date)s)
ORDER BY run_date DESC, batch ASC, question_id ASC
LIMIT 500;
