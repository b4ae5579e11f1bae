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
            WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
        )
    ) AS user_defined
FROM pg_catalog.pg_proc AS p
WHERE p.prokind <> 'p'
GROUP BY p.proname
ORDER BY p.proname
