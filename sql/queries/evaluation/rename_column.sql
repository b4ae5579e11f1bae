ALTER TABLE {schema_name}.{table_name} RENAME COLUMN {column_name} TO {new_name};
