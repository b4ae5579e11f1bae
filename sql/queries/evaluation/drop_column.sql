ALTER TABLE {schema_name}.{table_name} DROP COLUMN {column_name} CASCADE;
