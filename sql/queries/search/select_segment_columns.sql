SELECT
    segment_no,
    chunk_numbers,
    document_numbers,
    lengths
FROM nightshift.posting_segment
WHERE segment_no = any(%(segments)s::integer[])
