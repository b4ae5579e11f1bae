SELECT
    current_database() AS database_name,
    array(
        SELECT s.name
        FROM unnest(current_schemas(FALSE)) WITH ORDINALITY AS s (name, ordinal)
        WHERE s.name !~ '^pg_' AND s.name <> 'information_schema'
        ORDER BY s.ordinal
    )::text [] AS search_path
