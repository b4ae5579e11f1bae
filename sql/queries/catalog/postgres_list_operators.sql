SELECT
    o.oprname AS symbol,
    p.proname AS function_name
FROM pg_catalog.pg_operator AS o
INNER JOIN pg_catalog.pg_proc AS p ON o.oprcode = p.oid
WHERE
    o.oid >= 16384
    AND NOT EXISTS (
        SELECT 1
        FROM pg_catalog.pg_depend AS d
        WHERE d.classid = 'pg_catalog.pg_operator'::regclass AND d.objid = o.oid AND d.deptype = 'e'
    )
ORDER BY o.oprname, p.proname
