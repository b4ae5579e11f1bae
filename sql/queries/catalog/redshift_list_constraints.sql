SELECT
    k.conrelid::bigint AS object_id,
    k.conname AS key_name,
    k.contype AS key_type,
    array_to_string(k.conkey, ',') AS key_positions,
    k.confrelid::bigint AS target_id,
    array_to_string(k.confkey, ',') AS target_positions
FROM pg_catalog.pg_constraint AS k
INNER JOIN pg_catalog.pg_namespace AS n ON k.connamespace = n.oid
WHERE k.contype IN ('p', 'u', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
ORDER BY k.conrelid, k.contype, k.conname
