DELETE FROM nightshift.posting_block
WHERE segment_no = any(%(segments)s::integer[])
