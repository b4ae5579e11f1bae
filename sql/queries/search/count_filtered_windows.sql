SELECT count(*) FROM nightshift.chunk_window
WHERE version_no = %(version)s AND document_no = any(%(documents)s::integer[])
