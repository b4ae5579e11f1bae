INSERT INTO nightshift.strategy_use (
    run_id, question_id, question_key, question_class, strategy, asked_for, why, expected_model_calls, expected_tokens,
    expected_cost_usd, expected_milliseconds, model_calls, tokens, cost_usd, milliseconds, status, reflected,
    reflection_helped, candidates, candidates_helped
)
VALUES (
    %(run_id)s, %(question_id)s, %(question_key)s, %(question_class)s, %(strategy)s, %(asked_for)s, %(why)s,
    %(expected_model_calls)s, %(expected_tokens)s, %(expected_cost_usd)s, %(expected_milliseconds)s, %(model_calls)s,
    %(tokens)s, %(cost_usd)s, %(milliseconds)s, %(status)s, %(reflected)s, %(reflection_helped)s,
    %(candidates)s, %(candidates_helped)s
);
