-- Documents and their chunks. One transaction changes one document, so that a reader sees it before or after.
CREATE TABLE nightshift.document (
    document_no integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- SHA-256 of source and path, shortened: a path may be longer than a btree key can be
    document_id text NOT NULL UNIQUE,
    source text NOT NULL,
    path text NOT NULL,
    location text NOT NULL,
    content_hash text NOT NULL,
    size_bytes bigint NOT NULL,
    -- versions of converter, chunker, tokeniser and rules: another value means that it is converted again
    pipeline_version text NOT NULL,
    lexical_version integer NOT NULL,
    state text NOT NULL CHECK (state IN (
        'ok', 'partial', 'empty', 'no_text', 'encrypted', 'corrupt', 'too_large', 'unsupported', 'quarantined'
    )),
    stage text NOT NULL DEFAULT '',
    reason text NOT NULL DEFAULT '',
    title text NOT NULL DEFAULT '',
    document_type text,
    service text,
    owner text,
    language text,
    document_date date,
    status text,
    pages integer,
    converter text NOT NULL DEFAULT '',
    metadata jsonb NOT NULL DEFAULT '{}',
    origins jsonb NOT NULL DEFAULT '{}',
    warnings jsonb NOT NULL DEFAULT '[]',
    -- the enriched Markdown with its frontmatter, for the export
    enriched text NOT NULL DEFAULT '',
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    indexed_at timestamptz NOT NULL DEFAULT now(),
    last_run_id text
);

CREATE INDEX document_content_idx ON nightshift.document (source, content_hash);
CREATE INDEX document_type_idx ON nightshift.document (document_type);
CREATE INDEX document_service_idx ON nightshift.document (service);
CREATE INDEX document_state_idx ON nightshift.document (state);
CREATE INDEX document_date_idx ON nightshift.document (document_date);

COMMENT ON TABLE nightshift.document IS 'Every file that ingestion has seen, with the state it ended in';

-- Filters: every scalar of a document's metadata, lower case, a list as one row for each value.
CREATE TABLE nightshift.document_attribute (
    document_no integer NOT NULL REFERENCES nightshift.document ON DELETE CASCADE,
    name text NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (name, value, document_no)
);

CREATE INDEX document_attribute_document_idx ON nightshift.document_attribute (document_no);

CREATE TABLE nightshift.chunk (
    chunk_no integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document_no integer NOT NULL REFERENCES nightshift.document ON DELETE CASCADE,
    ordinal integer NOT NULL,
    body text NOT NULL CHECK (body <> '' OR context <> ''),
    context text NOT NULL,
    heading_path text[] NOT NULL DEFAULT '{}',
    page integer,
    kind text NOT NULL,
    tokens integer NOT NULL,
    -- terms counted with the weight of their field: the length that BM25 takes
    terms integer NOT NULL,
    -- SHA-256 of context and body: a chunk that did not change keeps its vectors and postings
    text_hash bytea NOT NULL,
    UNIQUE (document_no, ordinal) DEFERRABLE INITIALLY DEFERRED
);

COMMENT ON TABLE nightshift.chunk IS 'Pieces of documents as they are shown and quoted';
