SELECT
    t.schema_name,
    t.table_name,
    'table' AS kind,
    t.comment AS table_comment,
    t.estimated_size AS row_estimate,
    NULL::varchar AS definition,
    t.table_oid AS object_id
FROM duckdb_tables() AS t
WHERE NOT t.internal AND NOT t.temporary AND t.database_name = current_database()
UNION ALL
SELECT
    v.schema_name,
    v.view_name AS table_name,
    'view' AS kind,
    v.comment AS table_comment,
    NULL::bigint AS row_estimate,
    v.sql AS definition,
    v.view_oid AS object_id
FROM duckdb_views() AS v
WHERE NOT v.internal AND NOT v.temporary AND v.database_name = current_database()
ORDER BY 1, 2
