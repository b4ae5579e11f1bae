SELECT
    i.indrelid::bigint AS object_id,
    x.relname AS key_name,
    array_agg(a.attname::text ORDER BY u.ordinal) AS key_columns
FROM pg_catalog.pg_index AS i
INNER JOIN pg_catalog.pg_class AS x ON i.indexrelid = x.oid
CROSS JOIN LATERAL unnest(i.indkey::smallint []) WITH ORDINALITY AS u (attnum, ordinal)
INNER JOIN pg_catalog.pg_attribute AS a ON i.indrelid = a.attrelid AND u.attnum = a.attnum
WHERE
    i.indrelid = any(%(object_ids)s::oid []) -- noqa: RF02
    AND i.indisunique
    AND i.indisvalid
    AND i.indpred IS NULL
    AND i.indexprs IS NULL
    AND u.ordinal <= i.indnkeyatts
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_constraint AS k WHERE k.conindid = i.indexrelid)
GROUP BY i.indrelid, x.relname
ORDER BY i.indrelid, x.relname
