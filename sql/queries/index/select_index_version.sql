SELECT
    version_no,
    model_id,
    dimensions,
    status
FROM nightshift.index_version
WHERE model_id = %(model_id)s
