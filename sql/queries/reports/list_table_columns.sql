SELECT c.table_name, c.column_name, c.data_type
FROM information_schema.columns AS c
WHERE c.table_schema = 'reports' AND c.table_name = any(%(tables)s)
ORDER BY c.table_name, c.ordinal_position;
