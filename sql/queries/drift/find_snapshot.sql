SELECT
    snapshot_id,
    status,
    fingerprint,
    attributes,
    rules,
    taken_at
FROM nightshift.schema_snapshot
WHERE warehouse = %(warehouse)s AND status = %(status)s
ORDER BY snapshot_id DESC LIMIT 1
