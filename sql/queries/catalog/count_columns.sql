SELECT count(*) AS found
FROM pg_catalog.pg_attribute AS a
WHERE a.attrelid = to_regclass(%(table_name)s) AND a.attname = any(%(columns)s::name [])
