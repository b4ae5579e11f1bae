INSERT INTO nightshift.column_profile (warehouse, table_name, column_name, profile, taken_at)
SELECT
    %(warehouse)s,
    %(table_name)s,
    p.column_name,
    p.profile,
    %(moment)s
FROM unnest(%(columns)s::text [], %(profiles)s::jsonb []) AS p (column_name, profile)
ON CONFLICT (warehouse, table_name, column_name) DO UPDATE
SET
    profile = excluded.profile,
    taken_at = excluded.taken_at
