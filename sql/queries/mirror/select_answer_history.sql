SELECT
    a.batch, b.title AS batch_title, a.question_id, q.title AS question_title, a.question, a.version, a.run_date,
    a.state, a.status,
    CASE WHEN a.state = 'published' THEN a.answer END AS answer,
    CASE WHEN a.state = 'published' THEN a.headline_number END AS headline_number,
    CASE WHEN a.state = 'published' THEN a.headline_text END AS headline_text,
    CASE WHEN a.state = 'published' THEN a.headline_unit END AS headline_unit,
    a.reason, a.strategy, a.query_type, a.model_calls, a.cost_usd, a.milliseconds, a.answered_at, a.run_id
FROM {schema}.fact_answer AS a
INNER JOIN {schema}.dim_batch AS b ON a.batch = b.batch
INNER JOIN {schema}.dim_question AS q
    ON a.batch = q.batch AND a.question_id = q.question_id AND a.version = q.version;
