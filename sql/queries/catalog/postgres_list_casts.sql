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
        LEFT JOIN pg_catalog.pg_range AS r
            ON d.refclassid = 'pg_catalog.pg_type'::regclass AND d.refobjid IN (r.rngtypid, r.rngmultitypid)
        WHERE
            d.classid = 'pg_catalog.pg_cast'::regclass
            AND d.objid = c.oid
            -- The database itself makes the cast from a range to its multirange, which runs at most what the range does.
            AND (d.deptype = 'e' OR (d.deptype = 'i' AND r.rngcanonical::oid < 16384))
    )
ORDER BY source_type, target_type
