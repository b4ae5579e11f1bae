-- The state of a question after each node, as langgraph-checkpoint-postgres keeps it: its tables, at its version 9.
-- A newer release of the library adds what it needs itself.
CREATE TABLE nightshift.checkpoint_migrations (v integer PRIMARY KEY);

INSERT INTO nightshift.checkpoint_migrations (v)
SELECT generate_series(0, 9);

CREATE TABLE nightshift.checkpoints (
    thread_id text NOT NULL,
    checkpoint_ns text NOT NULL DEFAULT '',
    checkpoint_id text NOT NULL,
    parent_checkpoint_id text,
    type text,
    checkpoint jsonb NOT NULL,
    metadata jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
);

CREATE TABLE nightshift.checkpoint_blobs (
    thread_id text NOT NULL,
    checkpoint_ns text NOT NULL DEFAULT '',
    channel text NOT NULL,
    version text NOT NULL,
    type text NOT NULL,
    blob bytea,
    PRIMARY KEY (thread_id, checkpoint_ns, channel, version)
);

CREATE TABLE nightshift.checkpoint_writes (
    thread_id text NOT NULL,
    checkpoint_ns text NOT NULL DEFAULT '',
    checkpoint_id text NOT NULL,
    task_id text NOT NULL,
    idx integer NOT NULL,
    channel text NOT NULL,
    type text,
    blob bytea NOT NULL,
    task_path text NOT NULL DEFAULT '',
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
);

CREATE INDEX checkpoints_thread_id_idx ON nightshift.checkpoints (thread_id);
CREATE INDEX checkpoint_blobs_thread_id_idx ON nightshift.checkpoint_blobs (thread_id);
CREATE INDEX checkpoint_writes_thread_id_idx ON nightshift.checkpoint_writes (thread_id);
