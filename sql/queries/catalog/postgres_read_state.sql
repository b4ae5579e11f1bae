-- What a change of the schema cannot leave as it is, without fetching any of it: for each kind of catalog row how many
-- there are, and the sum of the hashes of their keys and of the transactions that wrote them. Nothing that ANALYZE,
-- VACUUM or rows of data touch is in it.
WITH relations AS (
    SELECT
        c.oid,
        c.xmin
    FROM pg_catalog.pg_class AS c
    INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid
    WHERE
        c.relkind IN ('r', 'p', 'v', 'm', 'f')
        AND NOT c.relispartition
        AND c.relpersistence <> 't'
        AND n.nspname <> 'information_schema'
        AND n.nspname !~ '^pg_'
),

written AS (
    SELECT
        'relation' AS kind,
        r.oid::bigint AS key,
        0 AS number,
        r.xmin
    FROM relations AS r
    UNION ALL
    SELECT
        'column' AS kind,
        a.attrelid::bigint AS key,
        a.attnum AS number,
        a.xmin
    FROM pg_catalog.pg_attribute AS a
    INNER JOIN relations AS r ON a.attrelid = r.oid
    WHERE a.attnum > 0
    UNION ALL
    SELECT
        'default' AS kind,
        f.oid::bigint AS key,
        0 AS number,
        f.xmin
    FROM pg_catalog.pg_attrdef AS f
    UNION ALL
    SELECT
        'constraint' AS kind,
        k.oid::bigint AS key,
        0 AS number,
        k.xmin
    FROM pg_catalog.pg_constraint AS k
    UNION ALL
    SELECT
        'index' AS kind,
        i.indexrelid::bigint AS key,
        0 AS number,
        i.xmin
    FROM pg_catalog.pg_index AS i
    INNER JOIN relations AS r ON i.indrelid = r.oid
    WHERE i.indisunique
    UNION ALL
    SELECT
        'rule' AS kind,
        w.oid::bigint AS key,
        0 AS number,
        w.xmin
    FROM pg_catalog.pg_rewrite AS w
    INNER JOIN relations AS r ON w.ev_class = r.oid
    UNION ALL
    SELECT
        'partitioned' AS kind,
        p.partrelid::bigint AS key,
        0 AS number,
        p.xmin
    FROM pg_catalog.pg_partitioned_table AS p
    UNION ALL
    SELECT
        'comment' AS kind,
        d.objoid::bigint AS key,
        d.objsubid AS number,
        d.xmin
    FROM pg_catalog.pg_description AS d
    INNER JOIN relations AS r ON d.objoid = r.oid
    WHERE d.classoid = 'pg_catalog.pg_class'::regclass
    UNION ALL
    SELECT
        'label' AS kind,
        e.oid::bigint AS key,
        0 AS number,
        e.xmin
    FROM pg_catalog.pg_enum AS e
    UNION ALL
    SELECT
        'type' AS kind,
        t.oid::bigint AS key,
        0 AS number,
        t.xmin
    FROM pg_catalog.pg_type AS t
    WHERE t.typtype IN ('d', 'e', 'r', 'm') OR (t.typtype = 'b' AND t.oid >= 16384 AND t.typelem = 0)
    UNION ALL
    SELECT
        'schema' AS kind,
        n.oid::bigint AS key,
        0 AS number,
        n.xmin
    FROM pg_catalog.pg_namespace AS n
    WHERE n.nspname !~ '^pg_'
    UNION ALL
    SELECT
        'extension' AS kind,
        d.objid::bigint AS key,
        0 AS number,
        d.xmin
    FROM pg_catalog.pg_depend AS d
    WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.deptype = 'e'
    UNION ALL
    SELECT
        'membership' AS kind,
        m.roleid::bigint AS key,
        hashtext(m.member::text || ':' || m.grantor::text) AS number,
        m.xmin
    FROM pg_catalog.pg_auth_members AS m
),

summed AS (
    SELECT
        w.kind,
        count(*) AS written_rows,
        sum(hashint8extended(w.key * 2048 + w.number, w.xmin::text::bigint)::numeric) AS digests
    FROM written AS w
    GROUP BY w.kind
)

SELECT
    current_database() AS database_name,
    concat_ws(
        ' ',
        current_setting('server_version_num'),
        max(r.rolname),
        max(concat_ws('-', r.oid, r.rolsuper, r.rolinherit)),
        string_agg(s.kind || ':' || s.written_rows || ':' || s.digests, ' ' ORDER BY s.kind)
    ) AS state
FROM summed AS s
CROSS JOIN pg_catalog.pg_roles AS r
WHERE r.rolname = current_user
