INSERT INTO nightshift.schema_baseline (warehouse, table_digests, updated_at)
VALUES (%(warehouse)s, %(table_digests)s, %(moment)s)
ON CONFLICT (warehouse) DO UPDATE SET table_digests = excluded.table_digests, updated_at = excluded.updated_at
