SELECT
    k.conrelid::bigint AS object_id,
    k.conname AS key_name,
    k.contype = 'p' AS is_primary,
    array_agg(a.attname::text ORDER BY u.ordinal) AS key_columns
FROM pg_catalog.pg_constraint AS k
CROSS JOIN LATERAL unnest(k.conkey) WITH ORDINALITY AS u (attnum, ordinal)
INNER JOIN pg_catalog.pg_attribute AS a ON k.conrelid = a.attrelid AND u.attnum = a.attnum
WHERE k.conrelid = any(%(object_ids)s::oid []) AND k.contype IN ('p', 'u') -- noqa: RF02
GROUP BY k.conrelid, k.conname, k.contype
ORDER BY k.conrelid ASC, is_primary DESC, k.conname ASC
