SELECT
    current_database() AS database_name,
    current_schema() AS schema_name
