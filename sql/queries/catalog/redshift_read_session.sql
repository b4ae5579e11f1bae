SELECT
    current_database() AS database_name,
    array_to_string(current_schemas(FALSE), ',') AS search_path
