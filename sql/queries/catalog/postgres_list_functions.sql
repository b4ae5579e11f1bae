SELECT
    p.proname AS function_name,
    CASE max(CASE p.provolatile WHEN 'v' THEN 2 WHEN 's' THEN 1 ELSE 0 END)
        WHEN 2 THEN 'volatile'
        WHEN 1 THEN 'stable'
        ELSE 'immutable'
    END AS volatility,
    bool_or(
        p.oid >= 16384
        AND NOT EXISTS (
            SELECT 1
            FROM pg_catalog.pg_depend AS d
            LEFT JOIN pg_catalog.pg_range AS r
                ON d.refclassid = 'pg_catalog.pg_type'::regclass AND d.refobjid IN (r.rngtypid, r.rngmultitypid)
            WHERE
                d.classid = 'pg_catalog.pg_proc'::regclass
                AND d.objid = p.oid
                -- The database itself makes the constructors of a range type; they run at most its canonical function.
                AND (d.deptype = 'e' OR (d.deptype = 'i' AND r.rngcanonical::oid < 16384))
        )
    ) AS user_defined
FROM pg_catalog.pg_proc AS p
WHERE p.prokind <> 'p'
GROUP BY p.proname
ORDER BY p.proname
