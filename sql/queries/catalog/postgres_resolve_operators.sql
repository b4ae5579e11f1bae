-- The function of each operator, and somebody's own functions that compare or hash in the families it belongs to: sorting
-- and grouping run those.
SELECT
    o.oid::bigint AS operator,
    array(
        SELECT o.oprcode::oid::bigint
        UNION
        SELECT s.amproc::oid::bigint
        FROM pg_catalog.pg_amop AS m
        INNER JOIN pg_catalog.pg_amproc AS s ON m.amopfamily = s.amprocfamily
        WHERE m.amopopr = o.oid AND s.amproc::oid >= 16384
    ) AS functions
FROM (SELECT unnest(%(numbers)s::oid []) AS number) AS w
INNER JOIN pg_catalog.pg_operator AS o ON w.number = o.oid
