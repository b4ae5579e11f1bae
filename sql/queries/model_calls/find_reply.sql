SELECT call_no, question_id, reply, problem, input_tokens, output_tokens, cost_usd::double precision
FROM nightshift.model_reply
WHERE run_id = %(run_id)s AND request_key = %(request_key)s;
