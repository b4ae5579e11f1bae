WITH wanted AS (
    SELECT question_id, %(batch)s::text AS batch
    FROM unnest(%(question_ids)s::text []) AS given (question_id)
)

INSERT INTO nightshift.latest_answer (batch, question_id, run_date)
SELECT w.batch, w.question_id, a.run_date
FROM wanted AS w
INNER JOIN LATERAL (
    SELECT f.run_date
    FROM reports.fact_answer AS f
    WHERE f.batch = w.batch AND f.question_id = w.question_id AND f.state = 'published'
    ORDER BY f.run_date DESC
    LIMIT 1
) AS a ON TRUE;
