-- Two words are put in: the checked statement, in parentheses, and the number of bytes that a row may have. The rows are
-- the statement's own, in its order; it fails at the first that is larger, before that is sent. OFFSET 0 keeps the
-- planner from computing columns twice.
SELECT r.* -- noqa: AM04
FROM (SELECT q.* FROM {guarded_statement} AS q OFFSET 0) AS r -- noqa: AM09
WHERE
    CASE
        WHEN pg_catalog.pg_column_size(r) OPERATOR(pg_catalog.<=) {most_bytes} THEN TRUE
        ELSE CAST(pg_catalog.concat('nightshift: a row of ', pg_catalog.pg_column_size(r), ' bytes') AS BOOLEAN)
    END
