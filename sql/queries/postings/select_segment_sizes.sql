-- Segments in order of their chunks, each with the number of those that are gone.
SELECT
    segment.segment_no,
    segment.first_chunk,
    segment.last_chunk,
    segment.chunks,
    (
        SELECT count(*)::integer FROM nightshift.posting_tombstone AS tombstone
        WHERE tombstone.chunk_no BETWEEN segment.first_chunk AND segment.last_chunk
    ) AS gone
FROM nightshift.posting_segment AS segment
ORDER BY segment.first_chunk
