-- Runs of batches and their answers before they are judged and published.
CREATE TABLE nightshift.batch_run (
    run_id uuid PRIMARY KEY,
    batch text NOT NULL,
    run_date date NOT NULL,
    publish boolean NOT NULL,
    state text NOT NULL CHECK (state IN ('running', 'finished', 'failed')),
    definition jsonb NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    outcome jsonb
);

CREATE INDEX batch_run_by_batch ON nightshift.batch_run (batch, run_date, started_at);

-- json, not jsonb: the text must come back as it was written, with zero characters and the spelling of each number.
CREATE TABLE nightshift.staged_answer (
    run_id uuid NOT NULL REFERENCES nightshift.batch_run ON DELETE CASCADE,
    question_id text NOT NULL,
    answer json NOT NULL,
    answered_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (run_id, question_id)
);
