SELECT table_digests FROM nightshift.schema_baseline WHERE warehouse = %(warehouse)s
