SELECT
    lower(p.proname) AS function_name,
    max(CASE p.provolatile WHEN 'v' THEN 2 WHEN 's' THEN 1 ELSE 0 END) AS danger,
    max(CASE WHEN n.nspname IN ('pg_catalog', 'information_schema') THEN 0 ELSE 1 END) AS user_defined
FROM pg_catalog.pg_proc AS p
INNER JOIN pg_catalog.pg_namespace AS n ON p.pronamespace = n.oid
GROUP BY lower(p.proname)
ORDER BY lower(p.proname)
