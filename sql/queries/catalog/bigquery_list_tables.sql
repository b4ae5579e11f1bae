SELECT
    t.table_schema AS schema_name,
    t.table_name,
    t.table_type,
    v.view_definition AS definition
FROM dataset_name.INFORMATION_SCHEMA.TABLES AS t
LEFT JOIN dataset_name.INFORMATION_SCHEMA.VIEWS AS v ON t.table_schema = v.table_schema AND t.table_name = v.table_name
ORDER BY t.table_name
