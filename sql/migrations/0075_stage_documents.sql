-- What a run made of documents waits here until it has been judged and is published. No search reads these tables: a
-- reader meets a document as it was published last, whole, and the searched tables hold nothing that must be filtered.
CREATE TABLE nightshift.staged_document (
    staged_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document_id text NOT NULL UNIQUE,
    -- the index version whose model the windows were cut for; another one needs other windows
    version_no integer NOT NULL REFERENCES nightshift.index_version,
    source text NOT NULL,
    path text NOT NULL,
    location text NOT NULL,
    content_hash text NOT NULL,
    size_bytes bigint NOT NULL,
    pipeline_version text NOT NULL,
    lexical_version integer NOT NULL,
    state text NOT NULL,
    stage text NOT NULL,
    reason text NOT NULL,
    title text NOT NULL,
    document_type text,
    service text,
    owner text,
    language text,
    document_date date,
    status text,
    pages integer,
    converter text NOT NULL,
    metadata jsonb NOT NULL,
    origins jsonb NOT NULL,
    warnings jsonb NOT NULL,
    enriched text NOT NULL,
    -- attributes to filter by, name and value in the same place
    attribute_names text[] NOT NULL,
    attribute_values text[] NOT NULL,
    -- how many chunks were made of it
    chunks integer NOT NULL,
    judged boolean NOT NULL DEFAULT false,
    -- why it is not published, and the stage that says so; empty where nothing speaks against it
    fault_stage text NOT NULL DEFAULT '',
    fault text NOT NULL DEFAULT '',
    staged_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX staged_document_source_idx ON nightshift.staged_document (source);

COMMENT ON TABLE nightshift.staged_document IS 'Documents that were converted and are not published yet';

CREATE TABLE nightshift.staged_chunk (
    staged_no bigint NOT NULL REFERENCES nightshift.staged_document ON DELETE CASCADE,
    ordinal integer NOT NULL,
    body text NOT NULL,
    context text NOT NULL,
    heading_path text[] NOT NULL,
    page integer,
    kind text NOT NULL,
    tokens integer NOT NULL,
    terms integer NOT NULL,
    text_hash bytea NOT NULL,
    -- its words and how often each stands in it, in the same place
    words text[] NOT NULL,
    frequencies smallint[] NOT NULL,
    -- keys of its windows' vectors in the embedding cache, in order
    windows bytea[] NOT NULL,
    PRIMARY KEY (staged_no, ordinal)
);

-- The work on the document is done and its result staged; the state follows when it is published.
ALTER TABLE nightshift.ingest_item ADD COLUMN staged boolean NOT NULL DEFAULT false;
