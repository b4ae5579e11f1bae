SELECT
    k.table_name,
    k.constraint_name AS key_name,
    t.constraint_type AS key_type,
    k.column_name,
    k.ordinal_position AS position,
    u.table_schema AS target_schema,
    u.table_name AS target_table,
    u.column_name AS target_column
FROM dataset_name.INFORMATION_SCHEMA.KEY_COLUMN_USAGE AS k
INNER JOIN dataset_name.INFORMATION_SCHEMA.TABLE_CONSTRAINTS AS t ON k.constraint_name = t.constraint_name
LEFT JOIN dataset_name.INFORMATION_SCHEMA.CONSTRAINT_COLUMN_USAGE AS u
    ON k.constraint_name = u.constraint_name AND t.constraint_type = 'FOREIGN KEY'
ORDER BY k.table_name, k.constraint_name, k.ordinal_position
