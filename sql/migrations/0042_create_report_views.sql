-- The stable surface for BI tools. Columns may be appended, never renamed or moved.
CREATE VIEW reports.answer_history AS
SELECT
    a.batch, b.title AS batch_title, a.question_id, q.title AS question_title, a.question, a.version, a.run_date,
    a.state, a.status, a.answer, a.headline_number, a.headline_text, a.headline_unit, a.explanation, a.reason,
    a.strategy, a.query_type, a.supported, a.relevance, a.citation_accuracy, a.citations, a.model_calls,
    a.prompt_tokens, a.completion_tokens, a.cost_usd, a.milliseconds, a.answered_at, a.run_id
FROM reports.fact_answer AS a
INNER JOIN reports.dim_batch AS b ON a.batch = b.batch
INNER JOIN reports.dim_question AS q
    ON a.batch = q.batch AND a.question_id = q.question_id AND a.version = q.version;

CREATE VIEW reports.answer_latest AS
SELECT DISTINCT ON (h.batch, h.question_id)
    h.batch, h.batch_title, h.question_id, h.question_title, h.question, h.version, h.run_date, h.status, h.answer,
    h.headline_number, h.headline_text, h.headline_unit, h.explanation, h.strategy, h.query_type, h.supported,
    h.citations, h.answered_at, h.run_id, r.run_date AS last_run_date, (h.run_date < r.run_date) AS stale
FROM reports.answer_history AS h
INNER JOIN (SELECT batch, max(run_date) AS run_date FROM reports.dim_run GROUP BY batch) AS r ON h.batch = r.batch
WHERE h.state = 'published'
ORDER BY h.batch, h.question_id, h.run_date DESC;

CREATE VIEW reports.answer_cells AS
SELECT
    c.batch, c.question_id, c.run_date, c.marker, c.row_number, c.column_number, c.column_name, c.column_label, c.unit,
    c.value_text, c.value_number, c.value_date, c.value_timestamp
FROM reports.fact_answer_cell AS c
INNER JOIN reports.fact_answer AS a
    ON c.run_date = a.run_date AND c.batch = a.batch AND c.question_id = a.question_id
WHERE a.state = 'published';

CREATE VIEW reports.answer_evidence AS
SELECT
    e.batch, e.question_id, e.run_date, e.marker, e.kind, e.reference, e.title, e.excerpt, e.page, e.sql_text,
    e.row_count, e.truncated_by
FROM reports.fact_evidence AS e;

CREATE VIEW reports.validation_failures AS
SELECT
    v.batch, v.question_id, q.question, v.run_date, v.check_id, v.severity, v.verdict, v.observed, v.threshold,
    v.message, q.state
FROM reports.fact_validation AS v
INNER JOIN reports.fact_answer AS q
    ON v.run_date = q.run_date AND v.batch = q.batch AND v.question_id = q.question_id
WHERE v.verdict IN ('fail', 'error');

CREATE VIEW reports.run_summary AS
SELECT
    r.batch, b.title AS batch_title, b.owner, r.run_date, r.started_at, r.finished_at, r.questions, r.published,
    r.quarantined, r.failed, r.needs_model, r.model_calls, r.prompt_tokens, r.completion_tokens, r.cost_usd,
    r.report_path, r.run_id
FROM reports.dim_run AS r
INNER JOIN reports.dim_batch AS b ON r.batch = b.batch;

COMMENT ON VIEW reports.answer_latest IS
'The last published answer to each standing question; stale where the last run of its batch did not publish one';
COMMENT ON VIEW reports.answer_history IS 'Every answer of every run, whatever became of it';
COMMENT ON VIEW reports.answer_cells IS 'The cells of published results, one row a cell';
COMMENT ON VIEW reports.answer_evidence IS 'The statements and passages that answers rest on';
COMMENT ON VIEW reports.validation_failures IS 'Checks that failed or could not be made';
COMMENT ON VIEW reports.run_summary IS 'One row a batch and run date: counts, cost and the report''s path';

COMMENT ON COLUMN reports.answer_latest.batch IS 'Name of the batch, the stem of its file';
COMMENT ON COLUMN reports.answer_latest.question_id IS 'Id of the question within its batch';
COMMENT ON COLUMN reports.answer_latest.question IS 'The question as it was asked';
COMMENT ON COLUMN reports.answer_latest.version IS 'Version of the question; a changed text is a new version';
COMMENT ON COLUMN reports.answer_latest.run_date IS 'The date that relative times of the question refer to';
COMMENT ON COLUMN reports.answer_latest.status IS 'answered, partial, no_evidence, needs_clarification or refused';
COMMENT ON COLUMN reports.answer_latest.answer IS 'The answer as Markdown with citation markers such as [S1] and [D1]';
COMMENT ON COLUMN reports.answer_latest.headline_number IS 'The single value of the answer where it is a number';
COMMENT ON COLUMN reports.answer_latest.headline_text IS 'The single value of the answer as text';
COMMENT ON COLUMN reports.answer_latest.headline_unit IS 'Unit of the headline value, such as EUR or %';
COMMENT ON COLUMN reports.answer_latest.explanation IS 'How the answer came about, in plain words';
COMMENT ON COLUMN reports.answer_latest.strategy IS 'How it was planned: replay, metric, verified, model or decomposed';
COMMENT ON COLUMN reports.answer_latest.supported IS 'Whether every claim is supported by its evidence';
COMMENT ON COLUMN reports.answer_latest.stale IS 'True where a newer run of the batch did not publish this question';
