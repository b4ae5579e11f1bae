UPDATE nightshift.index_version
SET status = 'retired'
WHERE status = 'serving'
RETURNING version_no
