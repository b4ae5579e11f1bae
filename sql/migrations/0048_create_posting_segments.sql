-- Postings packed for scoring: a row for each posting costs far more to read than the posting itself.
-- A segment covers a stretch of chunk numbers and never changes; chunks after the last one are scored from
-- nightshift.posting, which stays the truth that segments are built from.
CREATE TABLE nightshift.posting_segment (
    segment_no integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    first_chunk integer NOT NULL UNIQUE,
    last_chunk integer NOT NULL UNIQUE,
    chunks integer NOT NULL CHECK (chunks BETWEEN 1 AND 32768),
    -- one big-endian int4 for each chunk, in the order of their numbers: the place in there is the chunk's position
    chunk_numbers bytea NOT NULL,
    document_numbers bytea NOT NULL,
    lengths bytea NOT NULL
);

CREATE TABLE nightshift.posting_block (
    term_no integer NOT NULL,
    segment_no integer NOT NULL,
    -- one big-endian int2 for each chunk of the segment that holds the term, both in the same order
    positions bytea NOT NULL,
    frequencies bytea NOT NULL,
    PRIMARY KEY (term_no, segment_no)
);

-- Read whole and often: taking compressed values apart would cost more than reading them.
ALTER TABLE nightshift.posting_segment ALTER COLUMN chunk_numbers SET STORAGE EXTERNAL;
ALTER TABLE nightshift.posting_segment ALTER COLUMN document_numbers SET STORAGE EXTERNAL;
ALTER TABLE nightshift.posting_segment ALTER COLUMN lengths SET STORAGE EXTERNAL;
ALTER TABLE nightshift.posting_block ALTER COLUMN positions SET STORAGE EXTERNAL;
ALTER TABLE nightshift.posting_block ALTER COLUMN frequencies SET STORAGE EXTERNAL;

-- Chunks that a segment still holds although they are gone; the next rebuild of the segment forgets them.
CREATE TABLE nightshift.posting_tombstone (
    chunk_no integer PRIMARY KEY
);

CREATE FUNCTION nightshift.bury_chunks() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO nightshift.posting_tombstone (chunk_no)
    SELECT gone.chunk_no FROM gone
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE TRIGGER chunk_is_buried
AFTER DELETE ON nightshift.chunk
REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION nightshift.bury_chunks();
