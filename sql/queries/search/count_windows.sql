SELECT count(*) FROM nightshift.chunk_window
WHERE version_no = %(version)s
