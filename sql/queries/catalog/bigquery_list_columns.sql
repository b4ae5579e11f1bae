SELECT
    c.table_name,
    c.column_name,
    c.data_type AS column_type,
    c.is_nullable AS nullable,
    c.ordinal_position AS position,
    coalesce(c.generation_expression, c.column_default) AS default_expression,
    c.is_generated AS generated,
    c.is_partitioning_column AS partitioning,
    f.description AS column_comment
FROM dataset_name.INFORMATION_SCHEMA.COLUMNS AS c
LEFT JOIN dataset_name.INFORMATION_SCHEMA.COLUMN_FIELD_PATHS AS f
    ON c.table_name = f.table_name AND c.column_name = f.field_path
WHERE c.is_hidden = 'NO'
ORDER BY c.table_name, c.ordinal_position
