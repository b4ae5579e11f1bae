SELECT
    generation,
    (
        SELECT version.version_no FROM nightshift.index_version AS version
        WHERE version.status = 'serving'
    ) AS serving
FROM nightshift.index_state
FOR UPDATE OF index_state
