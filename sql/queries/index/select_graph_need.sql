SELECT
    (
        SELECT count(*) FROM nightshift.chunk_window
        WHERE version_no = %(version_no)s
    ) AS windows,
    found.oid IS NOT NULL AS graph_exists,
    coalesce(pg_index.indisvalid, false) AS graph_valid
FROM (SELECT to_regclass('nightshift.' || %(name)s) AS oid) AS found
LEFT JOIN pg_index ON found.oid = pg_index.indexrelid
