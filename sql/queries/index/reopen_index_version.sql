UPDATE nightshift.index_version
SET status = 'building', serving_since = NULL
WHERE version_no = %(version_no)s
