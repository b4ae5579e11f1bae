SELECT
    c.table_schema AS schema_name,
    c.table_name,
    c.column_name,
    c.data_type,
    c.character_maximum_length AS length,
    c.numeric_precision AS precision,
    c.numeric_scale AS scale,
    c.is_nullable AS nullable,
    c.ordinal_position AS position,
    c.column_default AS default_expression,
    c.comment AS column_comment
FROM information_schema.columns AS c
WHERE c.table_schema <> 'INFORMATION_SCHEMA'
ORDER BY c.table_schema, c.table_name, c.ordinal_position
