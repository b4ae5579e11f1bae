-- The stable surface for BI tools. Columns may be appended, never renamed or moved; a change of meaning is a new view.
CREATE VIEW reports.answer_history AS
SELECT
    a.batch, b.title AS batch_title, a.question_id, q.title AS question_title, a.question, a.version, a.run_date,
    a.state, a.status,
    CASE WHEN a.state = 'published' THEN a.answer END AS answer,
    CASE WHEN a.state = 'published' THEN a.headline_number END AS headline_number,
    CASE WHEN a.state = 'published' THEN a.headline_text END AS headline_text,
    CASE WHEN a.state = 'published' THEN a.headline_unit END AS headline_unit,
    a.row_count, a.explanation, a.reason, a.strategy, a.query_type, a.supported, a.relevance, a.citation_accuracy,
    a.citations, a.model_calls, a.prompt_tokens, a.completion_tokens, a.cost_usd, a.milliseconds, a.answered_at,
    a.run_id, a.review, a.reviewed_by, a.reviewed_at, a.review_note
FROM reports.fact_answer AS a
INNER JOIN reports.dim_batch AS b ON a.batch = b.batch
INNER JOIN reports.dim_question AS q
    ON a.batch = q.batch AND a.question_id = q.question_id AND a.version = q.version;

-- One look-up a question, so that years of history cost nothing.
CREATE VIEW reports.answer_latest AS
WITH asked AS (
    SELECT DISTINCT batch, question_id FROM reports.dim_question
),

newest AS (
    SELECT batch, max(run_date) AS run_date FROM reports.dim_run
    GROUP BY batch
)

SELECT
    k.batch, b.title AS batch_title, k.question_id, q.title AS question_title, a.question, a.version, a.run_date,
    a.status, a.answer, a.headline_number, a.headline_text, a.headline_unit, a.explanation, a.strategy, a.query_type,
    a.supported, a.citations, a.answered_at, a.run_id, n.run_date AS last_run_date,
    (a.run_date < n.run_date) AS stale,
    CASE WHEN a.run_date < n.run_date THEN coalesce(l.state, 'not asked') END AS stale_reason
FROM asked AS k
INNER JOIN reports.dim_batch AS b ON k.batch = b.batch
INNER JOIN newest AS n ON k.batch = n.batch
INNER JOIN LATERAL (
    SELECT
        f.question, f.version, f.run_date, f.status, f.answer, f.headline_number, f.headline_text, f.headline_unit,
        f.explanation, f.strategy, f.query_type, f.supported, f.citations, f.answered_at, f.run_id
    FROM reports.fact_answer AS f
    WHERE f.batch = k.batch AND f.question_id = k.question_id AND f.state = 'published'
    ORDER BY f.run_date DESC
    LIMIT 1
) AS a ON TRUE
INNER JOIN reports.dim_question AS q
    ON k.batch = q.batch AND k.question_id = q.question_id AND a.version = q.version
LEFT JOIN reports.fact_answer AS l
    ON n.run_date = l.run_date AND k.batch = l.batch AND k.question_id = l.question_id;

CREATE VIEW reports.answer_cells AS
SELECT
    c.batch, c.question_id, c.run_date, c.marker, c.row_number, c.column_number, c.column_name, c.column_label, c.unit,
    c.value_text, c.value_number, c.value_date, c.value_timestamp, c.value_boolean
FROM reports.fact_answer_cell AS c
INNER JOIN reports.fact_answer AS a
    ON c.run_date = a.run_date AND c.batch = a.batch AND c.question_id = a.question_id
WHERE a.state = 'published';

CREATE VIEW reports.answer_evidence AS
SELECT
    e.batch, e.question_id, e.run_date, e.marker, e.kind, e.reference, e.title, e.excerpt, e.page, e.sql_text,
    e.row_count, e.truncated_by, e.document_id
FROM reports.fact_evidence AS e
INNER JOIN reports.fact_answer AS a
    ON e.run_date = a.run_date AND e.batch = a.batch AND e.question_id = a.question_id
WHERE a.state = 'published';

CREATE VIEW reports.sql_executions AS
SELECT
    x.batch, x.question_id, x.run_date, x.marker, x.task, x.strategy, x.sql_text, x.tables, x.row_count,
    x.truncated_by, x.confidence, x.seconds
FROM reports.fact_sql_execution AS x;

CREATE VIEW reports.validation_results AS
SELECT
    v.batch, v.question_id, q.question, v.run_date, v.check_id, k.description, v.severity, v.verdict, v.observed,
    v.threshold, v.message, q.state
FROM reports.fact_validation AS v
INNER JOIN reports.fact_answer AS q
    ON v.run_date = q.run_date AND v.batch = q.batch AND v.question_id = q.question_id
LEFT JOIN reports.dim_check AS k
    ON v.batch = k.batch AND v.question_id = k.question_id AND v.check_id = k.check_id;

CREATE VIEW reports.validation_failures AS
SELECT
    v.batch, v.question_id, v.question, v.run_date, v.check_id, v.severity, v.verdict, v.observed, v.threshold,
    v.message, v.state, v.description
FROM reports.validation_results AS v
WHERE v.verdict IN ('fail', 'error');

CREATE VIEW reports.run_summary AS
SELECT
    r.batch, b.title AS batch_title, b.owner, r.run_date, r.started_at, r.finished_at, r.questions, r.published,
    r.quarantined, r.failed, r.needs_model, r.model_calls, r.prompt_tokens, r.completion_tokens, r.cost_usd,
    r.report_path, r.run_id,
    extract(EPOCH FROM r.finished_at - r.started_at)::double precision AS seconds
FROM reports.dim_run AS r
INNER JOIN reports.dim_batch AS b ON r.batch = b.batch;

CREATE VIEW reports.cost_by_day AS
SELECT
    r.run_date, r.batch, count(*) AS runs, sum(r.questions) AS questions, sum(r.model_calls) AS model_calls,
    sum(r.prompt_tokens) AS prompt_tokens, sum(r.completion_tokens) AS completion_tokens, sum(r.cost_usd) AS cost_usd
FROM reports.dim_run AS r
GROUP BY r.run_date, r.batch;
