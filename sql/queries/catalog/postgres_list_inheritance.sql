WITH RECURSIVE ancestors (child_oid, ancestor_oid) AS (
    SELECT
        i.inhrelid AS child_oid,
        i.inhparent AS ancestor_oid
    FROM pg_catalog.pg_inherits AS i
    INNER JOIN pg_catalog.pg_class AS c ON i.inhrelid = c.oid
    WHERE NOT c.relispartition AND c.relkind IN ('r', 'f')
    UNION
    SELECT
        a.child_oid,
        i.inhparent AS ancestor_oid
    FROM ancestors AS a
    INNER JOIN pg_catalog.pg_inherits AS i ON a.ancestor_oid = i.inhrelid
)

SELECT
    cn.nspname AS child_schema,
    c.relname AS child_name,
    pn.nspname AS ancestor_schema,
    p.relname AS ancestor_name
FROM ancestors AS a
INNER JOIN pg_catalog.pg_class AS c ON a.child_oid = c.oid
INNER JOIN pg_catalog.pg_namespace AS cn ON c.relnamespace = cn.oid
INNER JOIN pg_catalog.pg_class AS p ON a.ancestor_oid = p.oid
INNER JOIN pg_catalog.pg_namespace AS pn ON p.relnamespace = pn.oid
ORDER BY child_schema, child_name, ancestor_schema, ancestor_name
