SELECT
    term_no,
    segment_no,
    positions,
    frequencies
FROM nightshift.posting_block
WHERE term_no = any(%(terms)s::integer[])
