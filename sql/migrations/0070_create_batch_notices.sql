-- Whom a run was told to: a task that is tried again tells nobody twice.
CREATE TABLE nightshift.batch_notice (
    run_id uuid NOT NULL REFERENCES nightshift.batch_run ON DELETE CASCADE,
    channel text NOT NULL CHECK (channel IN ('email', 'webhook')),
    told_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (run_id, channel)
);
