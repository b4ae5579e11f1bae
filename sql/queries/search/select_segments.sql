SELECT
    segment_no,
    last_chunk
FROM nightshift.posting_segment
ORDER BY first_chunk
