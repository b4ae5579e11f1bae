SELECT
    generation,
    (
        SELECT version_no FROM nightshift.index_version
        WHERE status = 'serving'
    ) AS serving
FROM nightshift.index_state
FOR UPDATE OF index_state
