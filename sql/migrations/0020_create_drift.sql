-- Snapshots of warehouse schemas, what differs between them, and what people decided about it.
-- A table's description is stored once, however many snapshots hold it.
CREATE TABLE nightshift.schema_table (
    digest text PRIMARY KEY,
    content jsonb NOT NULL
);

CREATE TABLE nightshift.schema_snapshot (
    snapshot_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    warehouse text NOT NULL,
    status text NOT NULL CHECK (status IN ('complete', 'incomplete', 'held')),
    reason text NOT NULL DEFAULT '',
    fingerprint text NOT NULL DEFAULT '',
    table_digests jsonb NOT NULL DEFAULT '[]',
    attributes jsonb NOT NULL DEFAULT '{}',
    rules jsonb NOT NULL DEFAULT '{}',
    taken_by text NOT NULL,
    taken_at timestamptz NOT NULL,
    last_seen_at timestamptz NOT NULL
);

CREATE INDEX schema_snapshot_by_warehouse ON nightshift.schema_snapshot (warehouse, snapshot_id DESC);

-- The schema that people have accepted, table by table. Drift is what differs from it.
CREATE TABLE nightshift.schema_baseline (
    warehouse text PRIMARY KEY,
    table_digests jsonb NOT NULL,
    updated_at timestamptz NOT NULL
);

CREATE TABLE nightshift.drift_run (
    run_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    warehouse text NOT NULL,
    status text NOT NULL,
    actor text NOT NULL,
    report jsonb NOT NULL,
    finished_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX drift_run_by_finish ON nightshift.drift_run (finished_at);

-- `active` as long as the schema differs from the accepted one in just this way.
CREATE TABLE nightshift.drift_event (
    event_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    warehouse text NOT NULL,
    change_id text NOT NULL,
    kind text NOT NULL,
    object text NOT NULL,
    table_name text NOT NULL,
    severity text NOT NULL CHECK (severity IN ('breaking', 'risky', 'compatible', 'cosmetic')),
    change jsonb NOT NULL,
    state text NOT NULL CHECK (
        state IN ('open', 'noted', 'accepted', 'rejected', 'mapped', 'reverted', 'superseded')
    ),
    active boolean NOT NULL,
    snapshot_id bigint NOT NULL REFERENCES nightshift.schema_snapshot,
    opened_at timestamptz NOT NULL,
    last_seen_at timestamptz NOT NULL,
    closed_at timestamptz,
    decided_by text,
    note text NOT NULL DEFAULT '',
    alerted_at timestamptz
);

CREATE UNIQUE INDEX drift_event_active ON nightshift.drift_event (warehouse, change_id) WHERE active;
CREATE INDEX drift_event_by_object ON nightshift.drift_event (warehouse, object, opened_at DESC);

CREATE TABLE nightshift.drift_decision (
    decision_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id bigint NOT NULL REFERENCES nightshift.drift_event,
    decision text NOT NULL CHECK (decision IN ('accept', 'reject', 'map', 'revert', 'supersede')),
    target text,
    actor text NOT NULL,
    note text NOT NULL DEFAULT '',
    decided_at timestamptz NOT NULL
);

CREATE INDEX drift_decision_by_event ON nightshift.drift_decision (event_id);

-- Renames that people confirmed or refused; the next comparison follows them.
CREATE TABLE nightshift.rename_decision (
    warehouse text NOT NULL,
    before_object text NOT NULL,
    after_object text NOT NULL,
    verdict text NOT NULL CHECK (verdict IN ('confirmed', 'refused')),
    actor text NOT NULL,
    decided_at timestamptz NOT NULL,
    PRIMARY KEY (warehouse, before_object, after_object)
);
