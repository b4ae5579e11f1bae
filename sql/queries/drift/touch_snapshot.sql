UPDATE nightshift.schema_snapshot
SET
    last_seen_at = greatest(last_seen_at, %(moment)s),
    attributes = attributes || %(attributes)s
WHERE snapshot_id = %(snapshot_id)s
