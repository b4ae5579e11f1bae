WITH placed AS (
    SELECT
        chunk_no,
        (row_number() OVER (ORDER BY chunk_no) - 1)::smallint AS position
    FROM nightshift.chunk
    WHERE chunk_no BETWEEN %(first)s AND %(last)s
)

INSERT INTO nightshift.posting_block (term_no, segment_no, positions, frequencies)
SELECT
    posting.term_no,
    %(segment)s AS segment_no, -- noqa: RF02
    string_agg(int2send(placed.position), '' ORDER BY placed.position) AS positions,
    string_agg(int2send(posting.frequency), '' ORDER BY placed.position) AS frequencies
FROM placed
INNER JOIN nightshift.posting ON placed.chunk_no = posting.chunk_no
GROUP BY posting.term_no
