DROP MATERIALIZED VIEW {schema_name}.{table_name} CASCADE;
