INSERT INTO reports.dim_run (
    run_id, batch, run_date, started_at, finished_at, questions, published, quarantined, failed, needs_model,
    model_calls, prompt_tokens, completion_tokens, cost_usd, report_path
)
VALUES (
    %(run_id)s, %(batch)s, %(run_date)s, %(started_at)s, %(finished_at)s, %(questions)s, %(published)s,
    %(quarantined)s, %(failed)s, %(needs_model)s, %(model_calls)s, %(prompt_tokens)s, %(completion_tokens)s,
    %(cost_usd)s, %(report_path)s
);
