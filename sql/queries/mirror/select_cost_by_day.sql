SELECT
    r.run_date, r.batch, count(*) AS runs, sum(r.questions) AS questions, sum(r.model_calls) AS model_calls,
    sum(r.prompt_tokens) AS prompt_tokens, sum(r.completion_tokens) AS completion_tokens, sum(r.cost_usd) AS cost_usd
FROM {schema}.dim_run AS r
GROUP BY r.run_date, r.batch;
