SELECT
    count(*) FILTER (WHERE c.recent) AS window_calls,
    coalesce(sum(c.tokens) FILTER (WHERE c.recent), 0)::bigint AS window_tokens,
    coalesce(
        extract(EPOCH FROM min(c.leaves_window_at) FILTER (WHERE c.recent) - clock_timestamp()), 0
    )::double precision AS window_opens_in,
    coalesce(sum(c.tokens) FILTER (WHERE c.today), 0)::bigint AS day_tokens,
    coalesce(sum(c.cost_usd) FILTER (WHERE c.today), 0)::double precision AS day_cost_usd,
    coalesce(sum(c.tokens) FILTER (WHERE c.of_run), 0)::bigint AS run_tokens,
    coalesce(sum(c.cost_usd) FILTER (WHERE c.of_run), 0)::double precision AS run_cost_usd
FROM (
    SELECT
        cost_usd,
        gen_ai_usage_input_tokens + gen_ai_usage_output_tokens AS tokens,
        started_at + make_interval(secs => %(window_seconds)s) AS leaves_window_at,
        started_at > clock_timestamp() - make_interval(secs => %(window_seconds)s) AS recent,
        started_at >= date_trunc('day', now(), 'UTC') AS today,
        run_id = %(run_id)s AND run_id <> '' AS of_run
    FROM reports.fact_model_call
    WHERE
        started_at >= least(
            date_trunc('day', now(), 'UTC'), clock_timestamp() - make_interval(secs => %(window_seconds)s)
        )
        OR (run_id = %(run_id)s AND run_id <> '')
) AS c;
