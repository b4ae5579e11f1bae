INSERT INTO nightshift.value_lookup (scope, kind, subject, found, looked_at)
SELECT
    %(scope)s,
    l.kind,
    l.subject,
    l.found,
    %(moment)s
FROM unnest(%(kinds)s::text [], %(subjects)s::text [], %(found)s::jsonb []) AS l (kind, subject, found)
ON CONFLICT (scope, kind, subject) DO UPDATE
SET
    found = excluded.found,
    looked_at = excluded.looked_at
