-- Plans that answered a question once and are replayed while what they rest on has not changed.
CREATE TABLE nightshift.plan (
    plan_id text PRIMARY KEY,
    -- the question as asked, without regard to case and spacing
    question_key text NOT NULL,
    question text NOT NULL,
    question_id text,
    state text NOT NULL CHECK (state IN ('draft', 'approved', 'stale', 'broken', 'retired')),
    strategy text NOT NULL,
    -- the whole plan; relative times keep their wording and are worked out anew on each run
    plan jsonb NOT NULL,
    -- by step: the statement that ran last
    statements jsonb NOT NULL DEFAULT '{}',
    tables text [] NOT NULL DEFAULT '{}',
    columns text [] NOT NULL DEFAULT '{}',
    -- by kind: hash of what the plan rests on
    fingerprints jsonb NOT NULL,
    reason text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);

-- One plan of a question is in use at a time; older ones stay as history.
CREATE UNIQUE INDEX plan_in_use_idx ON nightshift.plan (question_key) WHERE state IN ('draft', 'approved');
CREATE INDEX plan_tables_idx ON nightshift.plan USING gin (tables);

CREATE TABLE nightshift.plan_run (
    plan_run_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    plan_id text NOT NULL REFERENCES nightshift.plan ON DELETE CASCADE,
    run_id text NOT NULL DEFAULT '',
    run_date date NOT NULL,
    status text NOT NULL,
    replayed boolean NOT NULL,
    model_calls integer NOT NULL DEFAULT 0,
    prompt_tokens integer NOT NULL DEFAULT 0,
    completion_tokens integer NOT NULL DEFAULT 0,
    milliseconds double precision NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX plan_run_plan_idx ON nightshift.plan_run (plan_id, at DESC);
