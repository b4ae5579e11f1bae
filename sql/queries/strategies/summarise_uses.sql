SELECT
    u.question_class,
    u.strategy,
    count(*) AS uses,
    -- what a check kept back or nobody could read did not help, whatever the core said of it
    sum(
        CASE
            WHEN u.state = 'quarantined' THEN 0
            WHEN u.status = 'answered' THEN 1
            WHEN u.status = 'partial' THEN 0.5
            ELSE 0
        END
    )::double precision AS score,
    avg(u.model_calls)::double precision AS model_calls,
    avg(u.tokens)::double precision AS tokens,
    avg(u.cost_usd) AS cost_usd,
    avg(u.milliseconds) AS milliseconds,
    count(*) FILTER (WHERE u.reflected) AS reflected,
    count(*) FILTER (WHERE u.reflection_helped) AS reflection_helped,
    count(*) FILTER (WHERE u.candidates > 0) AS drawn,
    count(*) FILTER (WHERE u.candidates_helped) AS drawing_helped
FROM (
    SELECT
        s.question_class, s.strategy, s.status, s.model_calls, s.tokens, s.cost_usd, s.milliseconds, s.reflected,
        s.reflection_helped, s.candidates, s.candidates_helped, a.state,
        row_number() OVER (PARTITION BY s.question_class, s.strategy ORDER BY s.use_no DESC) AS age
    FROM nightshift.strategy_use AS s
    LEFT JOIN reports.fact_answer AS a ON s.run_id = a.run_id::text AND s.question_id = a.question_id
) AS u
WHERE u.age <= 200
GROUP BY u.question_class, u.strategy
ORDER BY u.question_class, u.strategy;
