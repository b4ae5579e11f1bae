DELETE FROM nightshift.chunk_window
WHERE version_no = %(version_no)s
