"""Statements that must not run, one a line, for the judgement on what PostgreSQL understood: see the test of it."""

from __future__ import annotations

# `leak()` runs what the policy does not allow, in every place where a value can stand; the rest reads, locks, writes or
# names what is closed, or tries to look like a part of the tree in which PostgreSQL tells what it understood.
STATEMENTS = r"""
SELECT 1 AS "}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}" , (SELECT token FROM public.secrets)
SELECT 1 AS "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((" , (SELECT token FROM public.secrets)
SELECT * FROM public.secrets AS "}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}"
SELECT * FROM public.secrets AS "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\\"
SELECT leak() AS ":securityQuals"
SELECT leak() AS ":securityQuals ("
SELECT * FROM (SELECT leak()) AS ":securityQuals"
SELECT * FROM (SELECT leak()) AS ":joinaliasvars"(":joinaliasvars")
SELECT x.id FROM public.paid FULL JOIN (SELECT leak()::int AS id) x USING (id)
SELECT * FROM ROWS FROM (leak(), generate_series(1,2)) AS t
SELECT count(*) FROM public.paid GROUP BY leak()
SELECT count(*) FROM public.paid GROUP BY GROUPING SETS ((leak()), ())
SELECT sum(id) OVER (ORDER BY id ROWS BETWEEN length(leak()) PRECEDING AND CURRENT ROW) FROM public.paid
SELECT id FROM public.paid LIMIT length(leak())
SELECT id FROM public.paid OFFSET length(leak())
SELECT id FROM public.orders TABLESAMPLE bernoulli (50) REPEATABLE (length(leak()))
SELECT CASE leak() WHEN 'a' THEN 1 END
SELECT leak() IS DISTINCT FROM 'a'
SELECT nullif(leak(),'a')
SELECT 'a' = ANY (ARRAY[leak()])
SELECT ROW(leak(),1) < ROW('a',2)
SELECT ROW(leak(),1) IN (SELECT 'a',1)
SELECT 1 WHERE leak() IN (SELECT note FROM public.paid)
SELECT greatest(leak(),'a')
SELECT (ARRAY[leak()])[1]
SELECT (ARRAY['a'])[length(leak())]
SELECT (ROW(leak(),1)).f1
SELECT JSON_OBJECT('a': leak())
SELECT JSON_ARRAY(leak())
SELECT JSON_ARRAYAGG(leak())
SELECT JSON_VALUE(jsonb '{"a":1}', '$.a ? (@ == $x)' PASSING leak() AS x)
SELECT JSON_VALUE(jsonb '{}', '$.a' DEFAULT leak() ON EMPTY)
SELECT JSON_EXISTS(jsonb '{}', '$.a' PASSING leak() AS x)
SELECT leak() IS JSON
SELECT * FROM JSON_TABLE(to_jsonb(leak()), '$' COLUMNS (x text PATH '$'))
SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS (x text PATH '$' DEFAULT leak() ON EMPTY))
SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS (NESTED PATH '$' COLUMNS (y relname PATH '$')))
SELECT extract(year FROM leak()::date)
SELECT leak() COLLATE "C"
SELECT concat_ws(',', VARIADIC ARRAY[leak()])
SELECT count(*) FILTER (WHERE leak() IS NULL)
SELECT string_agg('a', leak())
SELECT string_agg('a', ',' ORDER BY leak())
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY leak())
WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n+length(leak()) FROM r WHERE n < 3) SELECT * FROM r
WITH x AS MATERIALIZED (SELECT leak()) SELECT 1 FROM x
VALUES (leak())
SELECT * FROM (VALUES (leak())) v
SELECT EXISTS (SELECT leak())
SELECT ARRAY(SELECT leak())
SELECT 1 UNION SELECT length(leak())
SELECT (SELECT s FROM public.secrets s)
SELECT s.* FROM public.secrets s
SELECT s IS NULL FROM public.secrets s
SELECT count(*) FROM public.secrets
SELECT 1 FROM public.secrets
SELECT FROM public.secrets
SELECT 1 FROM public.paid WHERE EXISTS (TABLE public.secrets)
SELECT 1 FROM public.paid, ONLY public.secrets
SELECT 1 FROM pg_catalog.pg_class
SELECT 1 FROM information_schema.tables
SELECT 1 FROM pg_stats
SELECT o.total FROM public.orders o
SELECT 1 FROM public.orders o ORDER BY total
SELECT 1 FROM public.orders o JOIN public.orders p USING (total)
SELECT 1 FROM public.orders o NATURAL JOIN public.orders p
SELECT j FROM (public.orders o CROSS JOIN public.paid p) AS j
SELECT sum(1) OVER (PARTITION BY total) FROM public.orders
SELECT id FROM public.orders FOR UPDATE
SELECT id FROM public.orders FOR KEY SHARE
DELETE FROM public.orders
WITH d AS (DELETE FROM public.orders RETURNING 1) SELECT * FROM d
INSERT INTO public.orders(id) VALUES (5)
SELECT 1 INTO x
EXPLAIN SELECT 1
SHOW data_directory
SET x.y = 1
COPY public.orders TO STDOUT
SELECT pg_sleep(0)
SELECT lo_get(1)
SELECT set_config('a.b','c',false)
SELECT current_setting('port')
SELECT array_append(ARRAY[pg_typeof(1)], '16547')
SELECT CASE WHEN true THEN 16547 ELSE pg_typeof(1)::oid END::regtype
SELECT coalesce(NULL, pg_typeof(1), '16547')
""".strip().splitlines()
