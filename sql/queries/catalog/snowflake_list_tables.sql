SELECT
    t.table_schema AS schema_name,
    t.table_name,
    t.table_type,
    t.row_count AS row_estimate,
    t.comment AS table_comment,
    v.view_definition AS definition
FROM information_schema.tables AS t
LEFT JOIN information_schema.views AS v ON t.table_schema = v.table_schema AND t.table_name = v.table_name
WHERE t.table_schema <> 'INFORMATION_SCHEMA'
ORDER BY t.table_schema, t.table_name
