-- Those of chunks that no segment holds: what was rebuilt has forgotten them, and the rest was never packed.
DELETE FROM nightshift.posting_tombstone AS tombstone
WHERE NOT EXISTS (
    SELECT 1 FROM nightshift.posting_segment AS segment
    WHERE
        tombstone.chunk_no BETWEEN segment.first_chunk AND segment.last_chunk
        AND segment.segment_no <> all(%(rebuilt)s::integer[])
)
