SELECT
    r.batch, b.title AS batch_title, b.owner, r.run_date, r.started_at, r.finished_at, r.questions, r.published,
    r.quarantined, r.failed, r.needs_model, r.model_calls, r.prompt_tokens, r.completion_tokens, r.cost_usd, r.run_id
FROM {schema}.dim_run AS r
INNER JOIN {schema}.dim_batch AS b ON r.batch = b.batch;
