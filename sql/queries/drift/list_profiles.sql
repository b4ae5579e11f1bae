SELECT
    table_name,
    column_name,
    profile,
    taken_at
FROM nightshift.column_profile
WHERE warehouse = %(warehouse)s AND table_name = any(%(tables)s::text [])
