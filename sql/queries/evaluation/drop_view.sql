DROP VIEW {schema_name}.{table_name} CASCADE;
