SELECT
    p.oid::bigint AS function,
    n.nspname AS schema_name,
    p.proname AS function_name,
    CASE p.provolatile WHEN 'v' THEN 'volatile' WHEN 's' THEN 'stable' ELSE 'immutable' END AS volatility,
    p.oid >= 16384
    AND NOT EXISTS (
        SELECT 1
        FROM pg_catalog.pg_depend AS d
        WHERE
            d.classid = 'pg_catalog.pg_proc'::regclass
            AND d.objid = p.oid
            -- An extension's, or one that the server itself makes along with a type of ranges.
            AND d.deptype IN ('e', 'i')
    ) AS own
FROM (SELECT unnest(%(numbers)s::oid []) AS number) AS w
INNER JOIN pg_catalog.pg_proc AS p ON w.number = p.oid
INNER JOIN pg_catalog.pg_namespace AS n ON p.pronamespace = n.oid
