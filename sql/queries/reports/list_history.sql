-- What earlier runs published for the questions as they are worded now: a changed text starts a history of its own.
SELECT question_id, run_date, headline_number, headline_text, headline_unit, row_count
FROM (
    SELECT
        a.question_id, a.run_date, a.headline_number, a.headline_text, a.headline_unit, a.row_count,
        row_number() OVER (PARTITION BY a.question_id ORDER BY a.run_date DESC) AS recency
    FROM reports.fact_answer AS a
    INNER JOIN reports.dim_question AS q
        ON a.batch = q.batch AND a.question_id = q.question_id AND a.version = q.version
    INNER JOIN unnest(%(question_ids)s::text [], %(texts)s::text []) AS wanted (question_id, question)
        ON q.question_id = wanted.question_id AND q.question = wanted.question
    WHERE a.batch = %(batch)s AND a.run_date < %(before)s AND a.state = 'published'
) AS recent
WHERE recency <= %(runs)s
ORDER BY question_id, run_date;
