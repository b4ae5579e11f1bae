INSERT INTO nightshift.model_reply (
    run_id, request_key, call_no, question_id, reply, problem, input_tokens, output_tokens, cost_usd
)
VALUES (
    %(run_id)s, %(request_key)s, %(call_no)s, %(question_id)s, %(reply)s, %(problem)s, %(input_tokens)s,
    %(output_tokens)s, %(cost_usd)s
)
ON CONFLICT (run_id, request_key) DO NOTHING;
