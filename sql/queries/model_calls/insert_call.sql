INSERT INTO reports.fact_model_call (
    run_id, question_id, node, state, gen_ai_provider_name, server_address, gen_ai_request_model,
    gen_ai_request_temperature, gen_ai_request_max_tokens, gen_ai_usage_input_tokens, gen_ai_usage_output_tokens,
    cost_usd
)
VALUES (
    %(run_id)s, %(question_id)s, %(node)s, 'running', %(provider)s, %(server)s, %(model)s,
    %(temperature)s, %(max_tokens)s, %(input_tokens)s, %(output_tokens)s, %(cost_usd)s
)
RETURNING call_no;
