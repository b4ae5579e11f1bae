DELETE FROM nightshift.posting_segment
WHERE segment_no = any(%(segments)s::integer[])
