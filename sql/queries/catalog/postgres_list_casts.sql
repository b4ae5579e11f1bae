SELECT
    pg_catalog.format_type(c.castsource, NULL) AS source_type,
    pg_catalog.format_type(c.casttarget, NULL) AS target_type,
    p.proname AS function_name,
    c.castcontext = 'i' AS implicit
FROM pg_catalog.pg_cast AS c
INNER JOIN pg_catalog.pg_proc AS p ON c.castfunc = p.oid
WHERE
    c.oid >= 16384
    AND NOT EXISTS (
        SELECT 1
        FROM pg_catalog.pg_depend AS d
        WHERE d.classid = 'pg_catalog.pg_cast'::regclass AND d.objid = c.oid AND d.deptype = 'e'
    )
ORDER BY source_type, target_type
