-- What each run of ingestion planned and did, a row for each document that needed work.
CREATE TABLE nightshift.ingest_run (
    run_id text PRIMARY KEY,
    started_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    roots jsonb NOT NULL,
    source text,
    complete boolean NOT NULL,
    discovered integer NOT NULL,
    unchanged integer NOT NULL,
    moved integer NOT NULL DEFAULT 0,
    removed integer NOT NULL DEFAULT 0,
    outcome jsonb
);

CREATE TABLE nightshift.ingest_item (
    run_id text NOT NULL REFERENCES nightshift.ingest_run ON DELETE CASCADE,
    document_id text NOT NULL,
    batch integer NOT NULL,
    source text NOT NULL,
    -- as the file system spells them: a name need not be UTF-8
    root bytea NOT NULL,
    location bytea NOT NULL,
    path text NOT NULL,
    size_bytes bigint NOT NULL,
    content_hash text NOT NULL,
    -- NULL until the document is done
    state text,
    stage text NOT NULL DEFAULT '',
    reason text NOT NULL DEFAULT '',
    chunks integer NOT NULL DEFAULT 0,
    embeddings integer NOT NULL DEFAULT 0,
    seconds real NOT NULL DEFAULT 0,
    finished_at timestamptz,
    PRIMARY KEY (run_id, document_id)
);

CREATE INDEX ingest_item_batch_idx ON nightshift.ingest_item (run_id, batch);
CREATE INDEX ingest_item_document_idx ON nightshift.ingest_item (document_id);
