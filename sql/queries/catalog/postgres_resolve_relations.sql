-- Relations by number: names, the columns asked for by number, the types of all columns, and a view's definition as
-- the server keeps it. Those that came with the server are not looked into.
SELECT
    c.oid::bigint AS relation,
    n.nspname AS schema_name,
    c.relname AS table_name,
    c.relkind IN ('v', 'm') AS is_view,
    array(
        SELECT a.attnum::integer
        FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid = c.oid AND a.attnum IN (SELECT w.number FROM unnest(%(columns)s::smallint []) AS w (number))
        ORDER BY a.attnum
    ) AS column_numbers,
    array(
        SELECT a.attname::text
        FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid = c.oid AND a.attnum IN (SELECT w.number FROM unnest(%(columns)s::smallint []) AS w (number))
        ORDER BY a.attnum
    ) AS column_names,
    array(
        SELECT DISTINCT a.atttypid::bigint
        FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    ) AS column_types,
    CASE
        WHEN c.oid >= 16384 AND c.relkind IN ('v', 'm')
            THEN
                (
                    SELECT r.ev_action::text
                    FROM pg_catalog.pg_rewrite AS r
                    WHERE r.ev_class = c.oid AND r.ev_type = '1'
                )
    END AS definition
FROM (SELECT unnest(%(numbers)s::oid []) AS number) AS w
INNER JOIN pg_catalog.pg_class AS c ON w.number = c.oid
INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid
