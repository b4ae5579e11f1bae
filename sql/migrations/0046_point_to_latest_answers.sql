-- The run date of each question's last published answer: the latest answers are looked up, not searched for.
CREATE TABLE nightshift.latest_answer (
    batch text NOT NULL,
    question_id text NOT NULL,
    run_date date NOT NULL,
    PRIMARY KEY (batch, question_id)
);

INSERT INTO nightshift.latest_answer (batch, question_id, run_date)
SELECT batch, question_id, max(run_date) AS run_date
FROM reports.fact_answer
WHERE state = 'published'
GROUP BY batch, question_id;

-- LIMIT 1 keeps the planner from joining whole years: each question reads one row of one month.
CREATE OR REPLACE VIEW reports.answer_latest AS
WITH newest AS (
    SELECT batch, max(run_date) AS run_date FROM reports.dim_run
    GROUP BY batch
)

SELECT
    k.batch, b.title AS batch_title, k.question_id, q.title AS question_title, a.question, a.version, a.run_date,
    a.status, a.answer, a.headline_number, a.headline_text, a.headline_unit, a.explanation, a.strategy, a.query_type,
    a.supported, a.citations, a.answered_at, a.run_id, n.run_date AS last_run_date,
    (a.run_date < n.run_date) AS stale,
    CASE WHEN a.run_date < n.run_date THEN coalesce(l.state, 'not asked') END AS stale_reason
FROM nightshift.latest_answer AS k
INNER JOIN reports.dim_batch AS b ON k.batch = b.batch
INNER JOIN newest AS n ON k.batch = n.batch
INNER JOIN LATERAL (
    SELECT
        f.question, f.version, f.run_date, f.status, f.answer, f.headline_number, f.headline_text, f.headline_unit,
        f.explanation, f.strategy, f.query_type, f.supported, f.citations, f.answered_at, f.run_id
    FROM reports.fact_answer AS f
    WHERE
        f.run_date = k.run_date AND f.batch = k.batch AND f.question_id = k.question_id AND f.state = 'published'
    ORDER BY f.run_date
    LIMIT 1
) AS a ON TRUE
INNER JOIN reports.dim_question AS q
    ON k.batch = q.batch AND k.question_id = q.question_id AND a.version = q.version
LEFT JOIN LATERAL (
    SELECT f.state
    FROM reports.fact_answer AS f
    WHERE f.run_date = n.run_date AND f.batch = k.batch AND f.question_id = k.question_id
    ORDER BY f.run_date
    LIMIT 1
) AS l ON TRUE;
