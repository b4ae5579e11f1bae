SELECT
    (
        SELECT count(*) FROM nightshift.chunk_window AS w
        WHERE w.version_no = %(wanted)s -- noqa: RF02
    ) AS windows,
    found.oid IS NOT NULL AS graph_exists,
    coalesce(pg_index.indisvalid, FALSE) AS graph_valid
FROM (SELECT to_regclass('nightshift.' || %(name)s) AS oid) AS found
LEFT JOIN pg_index ON found.oid = pg_index.indexrelid
