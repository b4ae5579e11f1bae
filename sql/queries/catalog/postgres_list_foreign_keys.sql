SELECT
    k.conrelid::bigint AS object_id,
    k.conname AS key_name,
    array_agg(a.attname::text ORDER BY u.ordinal) AS key_columns,
    n.nspname || '.' || c.relname AS target,
    array_agg(b.attname::text ORDER BY u.ordinal) AS target_columns
FROM pg_catalog.pg_constraint AS k
CROSS JOIN LATERAL unnest(k.conkey, k.confkey) WITH ORDINALITY AS u (attnum, target_attnum, ordinal)
INNER JOIN pg_catalog.pg_attribute AS a ON k.conrelid = a.attrelid AND u.attnum = a.attnum
INNER JOIN pg_catalog.pg_attribute AS b ON k.confrelid = b.attrelid AND u.target_attnum = b.attnum
INNER JOIN pg_catalog.pg_class AS c ON k.confrelid = c.oid
INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid
WHERE k.conrelid = any(%(object_ids)s::oid []) AND k.contype = 'f' AND k.conparentid = 0 -- noqa: RF02
GROUP BY k.conrelid, k.conname, n.nspname, c.relname
ORDER BY k.conrelid, k.conname
