INSERT INTO nightshift.plan_run (
    plan_id, run_id, run_date, status, replayed, model_calls, prompt_tokens, completion_tokens, milliseconds
)
VALUES (
    %(plan_id)s, %(run_id)s, %(run_date)s, %(status)s, %(replayed)s, %(model_calls)s, %(prompt_tokens)s,
    %(completion_tokens)s, %(milliseconds)s
)
