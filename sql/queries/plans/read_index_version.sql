SELECT concat(version_no, ':', model_id)
FROM nightshift.index_version
WHERE status = 'serving'
