-- Types by number and whatever they are made of: the names, the members, the table whose row it is, somebody's own
-- functions that the server runs with its values, and the checks of a domain as the server keeps them.
WITH RECURSIVE reached AS (
    SELECT
        0::oid AS holder_id,
        w.type_id
    FROM unnest(%(numbers)s::oid []) AS w (type_id)
    UNION
    SELECT
        r.type_id AS holder_id,
        m.type_id
    FROM reached AS r
    INNER JOIN pg_catalog.pg_type AS t ON r.type_id = t.oid
    INNER JOIN LATERAL (
        SELECT t.typbasetype AS type_id
        WHERE t.typbasetype <> 0
        UNION ALL
        SELECT t.typelem
        WHERE t.typelem <> 0
        UNION ALL
        SELECT a.atttypid
        FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid = t.typrelid AND t.typrelid <> 0 AND a.attnum > 0 AND NOT a.attisdropped
        UNION ALL
        SELECT g.rngsubtype
        FROM pg_catalog.pg_range AS g
        WHERE g.rngtypid = t.oid
        UNION ALL
        SELECT g.rngtypid
        FROM pg_catalog.pg_range AS g
        WHERE g.rngmultitypid = t.oid
    ) AS m ON TRUE
)

SELECT
    t.oid::bigint AS type_id,
    n.nspname AS schema_name,
    t.typname AS type_name,
    t.oid < 16384 OR EXISTS (
        SELECT 1
        FROM pg_catalog.pg_depend AS d
        WHERE
            d.deptype = 'e'
            AND (
                (d.classid = 'pg_catalog.pg_type'::regclass AND d.objid = t.oid)
                OR (d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = t.typrelid)
            )
    ) AS builtin,
    t.typelem <> 0 AND t.typlen = -1 AS is_array,
    array(SELECT m.type_id::bigint FROM reached AS m WHERE m.holder_id = t.oid) AS members,
    CASE WHEN c.relkind <> 'c' THEN ARRAY[s.nspname::text, c.relname::text] END AS of_table,
    array(
        SELECT f.function_id::bigint
        FROM unnest(
            ARRAY[t.typinput, t.typoutput, t.typreceive, t.typsend, t.typmodin, t.typmodout]::oid []
        ) AS f (function_id)
        WHERE f.function_id >= 16384
        UNION
        SELECT p.amproc::oid::bigint
        FROM pg_catalog.pg_opclass AS k
        INNER JOIN pg_catalog.pg_amproc AS p ON k.opcfamily = p.amprocfamily
        WHERE k.opcintype = t.oid AND k.opcdefault AND p.amproc::oid >= 16384
        UNION
        SELECT o.oprcode::oid::bigint
        FROM pg_catalog.pg_opclass AS k
        INNER JOIN pg_catalog.pg_amop AS p ON k.opcfamily = p.amopfamily
        INNER JOIN pg_catalog.pg_operator AS o ON p.amopopr = o.oid
        WHERE k.opcintype = t.oid AND k.opcdefault AND o.oprcode::oid >= 16384
        UNION
        -- Whatever makes JSON of a value runs the cast that somebody made for its type.
        SELECT k.castfunc::bigint
        FROM pg_catalog.pg_cast AS k
        WHERE
            k.castsource = t.oid
            AND k.casttarget IN ('pg_catalog.json'::regtype, 'pg_catalog.jsonb'::regtype)
            AND k.castfunc >= 16384
        UNION
        SELECT f.function_id::bigint
        FROM pg_catalog.pg_range AS g
        INNER JOIN LATERAL unnest(
            ARRAY[g.rngcanonical::oid, g.rngsubdiff::oid]
            || array(
                SELECT p.amproc::oid
                FROM pg_catalog.pg_opclass AS k
                INNER JOIN pg_catalog.pg_amproc AS p ON k.opcfamily = p.amprocfamily
                WHERE k.oid = g.rngsubopc
            )
        ) AS f (function_id) ON TRUE
        WHERE g.rngtypid = t.oid AND f.function_id >= 16384
    ) AS functions,
    array(
        SELECT k.conbin::text
        FROM pg_catalog.pg_constraint AS k
        WHERE k.contypid = t.oid AND k.contype = 'c'
    ) AS checks
FROM (SELECT DISTINCT a.type_id FROM reached AS a) AS r
INNER JOIN pg_catalog.pg_type AS t ON r.type_id = t.oid
INNER JOIN pg_catalog.pg_namespace AS n ON t.typnamespace = n.oid
LEFT JOIN pg_catalog.pg_class AS c ON t.typrelid = c.oid AND t.typrelid <> 0
LEFT JOIN pg_catalog.pg_namespace AS s ON c.relnamespace = s.oid
