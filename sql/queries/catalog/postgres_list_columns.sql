SELECT
    a.attrelid::bigint AS object_id,
    a.attname AS column_name,
    pg_catalog.format_type(a.atttypid, a.atttypmod) AS column_type,
    NOT a.attnotnull AS nullable,
    a.attnum AS position,
    pg_catalog.pg_get_expr(f.adbin, f.adrelid) AS default_expression,
    a.attgenerated <> '' AS generated,
    pg_catalog.col_description(a.attrelid, a.attnum) AS column_comment,
    coalesce(nullif(e.typelem, 0), nullif(t.typbasetype, 0), nullif(t.typelem, 0), t.oid)::bigint AS enum_type,
    pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT') AS readable
FROM pg_catalog.pg_attribute AS a
INNER JOIN pg_catalog.pg_type AS t ON a.atttypid = t.oid
LEFT JOIN pg_catalog.pg_type AS e ON t.typbasetype = e.oid
LEFT JOIN pg_catalog.pg_attrdef AS f ON a.attrelid = f.adrelid AND a.attnum = f.adnum
WHERE
    a.attrelid = any(%(object_ids)s::oid []) -- noqa: RF02
    AND a.attnum > 0
    AND NOT a.attisdropped
ORDER BY a.attrelid, a.attnum
