SELECT
    k.schema_name,
    k.table_name,
    k.constraint_name AS key_name,
    k.constraint_type AS key_type,
    k.constraint_column_names AS key_columns,
    k.referenced_table AS target_table,
    k.referenced_column_names AS target_columns
FROM duckdb_constraints() AS k
WHERE
    k.constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')
    AND k.database_name = current_database()
ORDER BY k.schema_name, k.table_name, k.constraint_type, k.constraint_name
