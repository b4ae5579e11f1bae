UPDATE nightshift.index_version
SET status = 'serving', serving_since = now()
WHERE version_no = %(version_no)s
