ALTER TABLE {schema_name}.{table_name} ALTER COLUMN {column_name} TYPE {new_type};
