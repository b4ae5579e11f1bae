SELECT
    lower(f.function_name) AS function_name,
    max(
        CASE
            WHEN f.stability = 'CONSISTENT' THEN 0
            WHEN f.stability = 'CONSISTENT_WITHIN_QUERY' THEN 1
            WHEN f.function_type = 'macro' AND f.internal THEN 1
            ELSE 2
        END
    ) AS danger,
    bool_or(NOT f.internal) AS user_defined
FROM duckdb_functions() AS f
GROUP BY lower(f.function_name)
ORDER BY lower(f.function_name)
