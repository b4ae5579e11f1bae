-- Types whose values are checked by an expression of somebody's own when they are made: domains, and whatever is made
-- of them (other domains, arrays, rows of tables, ranges).
WITH RECURSIVE checked AS (
    SELECT
        c.contypid AS type_id,
        c.oid AS constraint_id
    FROM pg_catalog.pg_constraint AS c
    WHERE c.contype = 'c' AND c.contypid >= 16384

    UNION

    SELECT
        made.type_id,
        k.constraint_id
    FROM checked AS k
    INNER JOIN LATERAL (
        SELECT t.oid AS type_id
        FROM pg_catalog.pg_type AS t
        WHERE t.typbasetype = k.type_id
        UNION ALL
        SELECT t.typarray
        FROM pg_catalog.pg_type AS t
        WHERE t.oid = k.type_id AND t.typarray <> 0
        UNION ALL
        SELECT r.reltype
        FROM pg_catalog.pg_attribute AS a
        INNER JOIN pg_catalog.pg_class AS r ON a.attrelid = r.oid
        WHERE a.atttypid = k.type_id AND a.attnum > 0 AND NOT a.attisdropped AND r.reltype <> 0
        UNION ALL
        SELECT g.rngtypid
        FROM pg_catalog.pg_range AS g
        WHERE g.rngsubtype = k.type_id
        UNION ALL
        SELECT g.rngmultitypid
        FROM pg_catalog.pg_range AS g
        WHERE g.rngtypid = k.type_id
    ) AS made ON TRUE
)

SELECT DISTINCT
    pg_catalog.format_type(k.type_id, NULL) AS type_name,
    pg_catalog.pg_get_constraintdef(k.constraint_id) AS definition
FROM checked AS k
ORDER BY type_name, definition
