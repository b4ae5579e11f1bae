SELECT warehouse FROM nightshift.schema_snapshot
WHERE starts_with(warehouse, %(prefix)s)
ORDER BY snapshot_id DESC LIMIT 1
