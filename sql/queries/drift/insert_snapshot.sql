INSERT INTO nightshift.schema_snapshot (
    warehouse, status, reason, fingerprint, table_digests, attributes, rules, taken_by, taken_at, last_seen_at
) VALUES (
    %(warehouse)s, %(status)s, %(reason)s, %(fingerprint)s, %(table_digests)s, %(attributes)s, %(rules)s, %(actor)s,
    %(moment)s, %(moment)s
) RETURNING snapshot_id
