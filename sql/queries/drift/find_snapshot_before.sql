SELECT max(snapshot_id) AS snapshot_id
FROM nightshift.schema_snapshot
WHERE warehouse = %(warehouse)s AND status = 'complete' AND snapshot_id < %(snapshot_id)s
