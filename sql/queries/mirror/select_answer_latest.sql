WITH published AS (
    SELECT
        f.batch, f.question_id, f.question, f.version, f.run_date, f.status, f.answer, f.headline_number,
        f.headline_text, f.headline_unit, f.explanation, f.strategy, f.query_type, f.supported, f.citations,
        f.answered_at, f.run_id,
        row_number() OVER (PARTITION BY f.batch, f.question_id ORDER BY f.run_date DESC) AS place
    FROM {schema}.fact_answer AS f
    WHERE f.state = 'published'
),

newest AS (
    SELECT r.batch, max(r.run_date) AS last_run_date
    FROM {schema}.dim_run AS r
    GROUP BY r.batch
)

SELECT
    p.batch, p.question_id, p.question, p.version, p.run_date, p.status, p.answer, p.headline_number, p.headline_text,
    p.headline_unit, p.explanation, p.strategy, p.query_type, p.supported, p.citations, p.answered_at, p.run_id,
    n.last_run_date, (p.run_date < n.last_run_date) AS stale
FROM published AS p
INNER JOIN newest AS n ON p.batch = n.batch
WHERE p.place = 1;
