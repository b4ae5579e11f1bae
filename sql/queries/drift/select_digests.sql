SELECT table_digests FROM nightshift.schema_snapshot WHERE snapshot_id = %(snapshot_id)s
