SELECT
    c.oid::bigint AS object_id,
    n.nspname AS schema_name,
    c.relname AS table_name,
    CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized_view' ELSE 'table' END AS kind,
    d.description AS table_comment,
    CASE WHEN c.relkind = 'v' OR c.reltuples < 0 THEN NULL ELSE c.reltuples::bigint END AS row_estimate,
    CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END AS definition,
    has_table_privilege(c.oid, 'SELECT') AS readable
FROM pg_catalog.pg_class AS c
INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid
LEFT JOIN pg_catalog.pg_description AS d ON c.oid = d.objoid AND d.objsubid = 0
WHERE
    c.relkind IN ('r', 'v', 'm')
    AND n.nspname <> 'information_schema'
    AND n.nspname !~ '^pg_'
    AND has_schema_privilege(n.oid, 'USAGE')
ORDER BY n.nspname, c.relname
