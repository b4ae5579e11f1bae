SELECT run_id, run_date, status, replayed, model_calls, prompt_tokens, completion_tokens, milliseconds, at
FROM nightshift.plan_run
WHERE plan_id = %(plan_id)s
ORDER BY at DESC, plan_run_no DESC
LIMIT %(count)s
