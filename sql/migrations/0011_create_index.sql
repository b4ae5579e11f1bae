-- The two legs of search: postings for exact BM25, windows of vectors for each index version.
-- Writers lock this row first: they change shared counts, and without one order they would deadlock.
CREATE TABLE nightshift.index_state (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    -- rises with every change, so that caches know when they are old
    generation bigint NOT NULL DEFAULT 0,
    chunks bigint NOT NULL DEFAULT 0,
    terms bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10);

INSERT INTO nightshift.index_state DEFAULT VALUES;

CREATE TABLE nightshift.term (
    term_no integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    term text NOT NULL UNIQUE,
    chunks integer NOT NULL DEFAULT 0
) WITH (fillfactor = 80);

CREATE TABLE nightshift.posting (
    term_no integer NOT NULL,
    chunk_no integer NOT NULL,
    document_no integer NOT NULL,
    frequency smallint NOT NULL,
    terms integer NOT NULL
);

-- Everything that scoring reads stands in the index, so the table itself is not visited.
CREATE UNIQUE INDEX posting_term_idx ON nightshift.posting (term_no, chunk_no)
INCLUDE (document_no, frequency, terms);
CREATE INDEX posting_chunk_idx ON nightshift.posting (chunk_no) INCLUDE (term_no);

CREATE TABLE nightshift.index_version (
    version_no integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    model_id text NOT NULL UNIQUE,
    -- the setting that loads the model again while a newer index is being built
    model_setting text NOT NULL,
    dimensions integer NOT NULL,
    max_tokens integer NOT NULL,
    status text NOT NULL CHECK (status IN ('building', 'serving', 'retired')),
    -- calibrated limits of the null signal, on raw scores; NULL: the defaults of the model
    null_cosine real,
    null_coverage real,
    calibration jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    serving_since timestamptz
);

CREATE UNIQUE INDEX index_version_serving_idx ON nightshift.index_version (status) WHERE status = 'serving';

-- A chunk longer than the embedding model takes is embedded as several windows; search runs over windows.
CREATE TABLE nightshift.chunk_window (
    version_no integer NOT NULL REFERENCES nightshift.index_version,
    chunk_no integer NOT NULL REFERENCES nightshift.chunk ON DELETE CASCADE,
    ordinal smallint NOT NULL,
    document_no integer NOT NULL,
    embedding halfvec NOT NULL,
    PRIMARY KEY (version_no, chunk_no, ordinal)
);

ALTER TABLE nightshift.chunk_window ALTER COLUMN embedding SET STORAGE PLAIN;
CREATE INDEX chunk_window_document_idx ON nightshift.chunk_window (document_no);
CREATE INDEX chunk_window_chunk_idx ON nightshift.chunk_window (chunk_no);

-- Vectors by model and text: what was once embedded is never embedded again.
CREATE TABLE nightshift.embedding_cache (
    model_id text NOT NULL,
    text_hash bytea NOT NULL,
    embedding halfvec NOT NULL,
    PRIMARY KEY (model_id, text_hash)
);
