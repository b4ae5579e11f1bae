SELECT
    a.attrelid::bigint AS object_id,
    a.attname AS column_name,
    format_type(a.atttypid, a.atttypmod) AS column_type,
    NOT a.attnotnull AS nullable,
    a.attnum AS position,
    pg_get_expr(f.adbin, f.adrelid) AS default_expression,
    d.description AS column_comment
FROM pg_catalog.pg_attribute AS a
INNER JOIN pg_catalog.pg_class AS c ON a.attrelid = c.oid
INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid
LEFT JOIN pg_catalog.pg_attrdef AS f ON a.attrelid = f.adrelid AND a.attnum = f.adnum
LEFT JOIN pg_catalog.pg_description AS d ON a.attrelid = d.objoid AND a.attnum = d.objsubid
WHERE
    c.relkind IN ('r', 'v', 'm')
    AND n.nspname <> 'information_schema'
    AND n.nspname !~ '^pg_'
    AND a.attnum > 0
    AND NOT a.attisdropped
ORDER BY a.attrelid, a.attnum
