WITH RECURSIVE children (root_oid, child_oid) AS (
    SELECT
        i.inhparent AS root_oid,
        i.inhrelid AS child_oid
    FROM pg_catalog.pg_inherits AS i
    INNER JOIN pg_catalog.pg_class AS p ON i.inhparent = p.oid
    WHERE p.relkind = 'p' AND NOT p.relispartition
    UNION ALL
    SELECT
        c.root_oid,
        i.inhrelid AS child_oid
    FROM children AS c
    INNER JOIN pg_catalog.pg_inherits AS i ON c.child_oid = i.inhparent
),

partitioned_rows AS (
    SELECT
        c.root_oid,
        sum(greatest(p.reltuples, 0)) AS row_estimate
    FROM children AS c
    INNER JOIN pg_catalog.pg_class AS p ON c.child_oid = p.oid
    WHERE p.relkind <> 'p'
    GROUP BY c.root_oid
),

views AS (
    SELECT
        c.oid AS view_oid,
        d.refobjid AS read_oid,
        n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AS is_own,
        CASE
            WHEN (
                SELECT o.option_value::boolean
                FROM pg_catalog.pg_options_to_table(c.reloptions) AS o
                WHERE o.option_name = 'security_invoker'
            ) THEN u.oid
            ELSE c.relowner
        END AS role_oid
    FROM pg_catalog.pg_class AS c
    INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid
    INNER JOIN pg_catalog.pg_rewrite AS w ON c.oid = w.ev_class
    INNER JOIN pg_catalog.pg_depend AS d
        ON
            w.oid = d.objid
            AND d.classid = 'pg_catalog.pg_rewrite'::regclass
            AND d.refclassid = 'pg_catalog.pg_class'::regclass
            AND c.oid <> d.refobjid
    INNER JOIN pg_catalog.pg_roles AS u ON u.rolname = current_user
    WHERE c.relkind = 'v'
),

-- What a view reads, through other views too, and the role whose row policies decide: the owner of the view that reads
-- it, or whoever asks where that view says so.
view_reads AS (
    SELECT
        v.view_oid,
        v.read_oid,
        v.role_oid
    FROM views AS v
    WHERE v.is_own
    UNION
    SELECT
        p.view_oid,
        v.read_oid,
        v.role_oid
    FROM view_reads AS p
    INNER JOIN views AS v ON p.read_oid = v.view_oid
),

limited_views AS (
    SELECT DISTINCT p.view_oid
    FROM view_reads AS p
    INNER JOIN pg_catalog.pg_class AS t ON p.read_oid = t.oid AND t.relrowsecurity
    INNER JOIN pg_catalog.pg_roles AS r ON p.role_oid = r.oid
    WHERE
        NOT r.rolsuper
        AND NOT r.rolbypassrls
        AND (t.relforcerowsecurity OR NOT pg_catalog.pg_has_role(r.oid, t.relowner, 'USAGE'))
)

SELECT
    c.oid::bigint AS object_id,
    n.nspname AS schema_name,
    c.relname AS table_name,
    CASE c.relkind
        WHEN 'p' THEN 'partitioned_table'
        WHEN 'v' THEN 'view'
        WHEN 'm' THEN 'materialized_view'
        WHEN 'f' THEN 'foreign_table'
        ELSE 'table'
    END AS kind,
    pg_catalog.obj_description(c.oid, 'pg_class') AS table_comment,
    CASE
        WHEN c.relkind = 'p' THEN r.row_estimate::bigint
        WHEN c.relkind = 'v' OR c.reltuples < 0 THEN NULL
        ELSE c.reltuples::bigint
    END AS row_estimate,
    CASE WHEN c.relkind IN ('v', 'm') THEN pg_catalog.pg_get_viewdef(c.oid) END AS definition,
    CASE WHEN c.relkind = 'p' THEN pg_catalog.pg_get_partkeydef(c.oid) END AS partition_key,
    pg_catalog.has_table_privilege(c.oid, 'SELECT') AS fully_readable,
    pg_catalog.has_any_column_privilege(c.oid, 'SELECT') AS readable,
    pg_catalog.row_security_active(c.oid) OR l.view_oid IS NOT NULL AS row_limited
FROM pg_catalog.pg_class AS c
INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid
LEFT JOIN partitioned_rows AS r ON c.oid = r.root_oid
LEFT JOIN limited_views AS l ON c.oid = l.view_oid
WHERE
    c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND NOT c.relispartition
    AND c.relpersistence <> 't'
    AND n.nspname <> 'information_schema'
    AND n.nspname !~ '^pg_'
    AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
    AND NOT EXISTS (
        SELECT 1
        FROM pg_catalog.pg_depend AS d
        WHERE
            d.classid = 'pg_catalog.pg_class'::regclass
            AND d.objid = c.oid
            AND d.deptype = 'e'
    )
ORDER BY n.nspname, c.relname
