UPDATE reports.fact_model_call
SET
    state = %(state)s,
    gen_ai_response_model = %(response_model)s,
    gen_ai_response_id = %(response_id)s,
    gen_ai_response_finish_reason = %(finish_reason)s,
    gen_ai_usage_input_tokens = %(input_tokens)s,
    gen_ai_usage_output_tokens = %(output_tokens)s,
    gen_ai_usage_cache_read_input_tokens = %(cached_tokens)s,
    gen_ai_client_operation_duration = %(seconds)s,
    error_type = %(error_type)s,
    cost_usd = %(cost_usd)s
WHERE call_no = %(call_no)s;
