SELECT
    h.question,
    h.status,
    coalesce(h.answer, h.reason) AS answer
FROM reports.answer_history AS h
WHERE
    h.batch = %(batch)s
    AND h.run_date = %(run_date)s::date
    AND h.question_id = any(%(question_ids)s)
ORDER BY array_position(%(question_ids)s, h.question_id)
