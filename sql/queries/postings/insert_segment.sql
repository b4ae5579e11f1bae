WITH covered AS (
    SELECT
        chunk_no,
        document_no,
        terms
    FROM nightshift.chunk
    WHERE chunk_no > %(after)s AND chunk_no <= %(through)s
    ORDER BY chunk_no
    LIMIT %(most)s
)

INSERT INTO nightshift.posting_segment (first_chunk, last_chunk, chunks, chunk_numbers, document_numbers, lengths)
SELECT
    min(chunk_no) AS first_chunk,
    max(chunk_no) AS last_chunk,
    count(*) AS chunks,
    string_agg(int4send(chunk_no), '' ORDER BY chunk_no) AS chunk_numbers,
    string_agg(int4send(document_no), '' ORDER BY chunk_no) AS document_numbers,
    string_agg(int4send(terms), '' ORDER BY chunk_no) AS lengths
FROM covered
HAVING count(*) > 0
RETURNING segment_no, first_chunk, last_chunk
