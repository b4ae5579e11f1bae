SELECT
    v.model_id,
    v.dimensions
FROM nightshift.index_version AS v
WHERE v.status = 'serving'
