SELECT
    t.table_schema AS schema_name,
    t.table_name,
    t.table_type,
    v.view_definition AS definition,
    o.option_value AS table_comment,
    s.row_count AS row_estimate
FROM dataset_name.INFORMATION_SCHEMA.TABLES AS t
LEFT JOIN dataset_name.INFORMATION_SCHEMA.VIEWS AS v ON t.table_schema = v.table_schema AND t.table_name = v.table_name
LEFT JOIN dataset_name.INFORMATION_SCHEMA.TABLE_OPTIONS AS o
    ON t.table_name = o.table_name AND o.option_name = 'description'
LEFT JOIN dataset_name.__TABLES__ AS s ON t.table_name = s.table_id
ORDER BY t.table_name
