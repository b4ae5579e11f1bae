SELECT
    current_database() AS database_name,
    array(
        SELECT s.name
        FROM unnest(current_schemas(FALSE)) WITH ORDINALITY AS s (name, ordinal)
        WHERE s.name !~ '^pg_' AND s.name <> 'information_schema'
        ORDER BY s.ordinal
    )::text [] AS search_path,
    array(
        SELECT n.nspname::text
        FROM pg_catalog.pg_namespace AS n
        WHERE
            n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
            AND NOT has_schema_privilege(n.oid, 'USAGE')
        ORDER BY n.nspname
    ) AS closed_schemas
