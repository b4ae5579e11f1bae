SELECT
    version_no,
    model_id,
    dimensions,
    status
FROM nightshift.index_version
WHERE status = 'serving'
