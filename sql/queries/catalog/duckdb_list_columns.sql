SELECT
    c.schema_name,
    c.table_name,
    c.column_name,
    c.data_type AS column_type,
    c.is_nullable AS nullable,
    c.column_index AS position,
    c.column_default AS default_expression,
    coalesce(c.is_generated, FALSE) AS generated,
    c.comment AS column_comment
FROM duckdb_columns() AS c
WHERE NOT c.internal AND c.database_name = current_database()
ORDER BY c.schema_name, c.table_name, c.column_index
