-- What earlier runs published for the questions as they are worded now: a changed text starts a history of its own.
WITH wanted AS (
    SELECT question_id, question
    FROM unnest(%(question_ids)s::text [], %(texts)s::text []) AS given (question_id, question)
),

earlier AS (
    SELECT batch, question_id, version, run_date, headline_number, headline_text, headline_unit, row_count
    FROM reports.fact_answer
    WHERE batch = %(batch)s AND run_date < %(before)s AND state = 'published'
),

ranked AS (
    SELECT
        a.question_id, a.run_date, a.headline_number, a.headline_text, a.headline_unit, a.row_count,
        row_number() OVER (PARTITION BY a.question_id ORDER BY a.run_date DESC) AS recency
    FROM earlier AS a
    INNER JOIN reports.dim_question AS q
        ON a.batch = q.batch AND a.question_id = q.question_id AND a.version = q.version
    INNER JOIN wanted AS w ON q.question_id = w.question_id AND q.question = w.question
)

SELECT question_id, run_date, headline_number, headline_text, headline_unit, row_count
FROM ranked
WHERE recency <= %(runs)s
ORDER BY question_id, run_date;
