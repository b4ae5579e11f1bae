-- What BI tools read. Facts are partitioned by month of the run date; retention drops partitions.
-- Plain types only: BI tools show jsonb as text and NaN as null.
CREATE TABLE reports.dim_batch (
    batch text PRIMARY KEY,
    title text NOT NULL,
    description text NOT NULL,
    owner text NOT NULL,
    audience text NOT NULL,
    schedule text,
    updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE reports.dim_question (
    batch text NOT NULL,
    question_id text NOT NULL,
    version integer NOT NULL,
    title text NOT NULL,
    question text NOT NULL,
    tags text NOT NULL,
    first_seen_on date NOT NULL,
    PRIMARY KEY (batch, question_id, version)
);

CREATE TABLE reports.dim_run (
    run_id uuid PRIMARY KEY,
    batch text NOT NULL,
    run_date date NOT NULL,
    started_at timestamptz NOT NULL,
    finished_at timestamptz NOT NULL,
    questions integer NOT NULL,
    published integer NOT NULL,
    quarantined integer NOT NULL,
    failed integer NOT NULL,
    needs_model integer NOT NULL,
    model_calls integer NOT NULL,
    prompt_tokens bigint NOT NULL,
    completion_tokens bigint NOT NULL,
    cost_usd numeric(14, 6),
    report_path text,
    UNIQUE (batch, run_date)
);

CREATE TABLE reports.fact_answer (
    run_date date NOT NULL,
    batch text NOT NULL,
    question_id text NOT NULL,
    version integer NOT NULL,
    run_id uuid NOT NULL,
    state text NOT NULL CHECK (state IN ('published', 'quarantined', 'failed', 'needs_model')),
    status text NOT NULL,
    strategy text NOT NULL,
    query_type text NOT NULL,
    question text NOT NULL,
    answer text NOT NULL,
    headline_number numeric,
    headline_text text,
    headline_unit text,
    explanation text NOT NULL,
    reason text NOT NULL,
    supported boolean NOT NULL,
    relevance double precision NOT NULL,
    citation_accuracy double precision NOT NULL,
    citations integer NOT NULL,
    model_calls integer NOT NULL,
    prompt_tokens bigint NOT NULL,
    completion_tokens bigint NOT NULL,
    cost_usd numeric(14, 6),
    milliseconds double precision NOT NULL,
    plan_id text,
    answered_at timestamptz NOT NULL,
    PRIMARY KEY (run_date, batch, question_id)
) PARTITION BY RANGE (run_date);

CREATE INDEX fact_answer_by_question ON reports.fact_answer (batch, question_id, run_date DESC);

CREATE TABLE reports.fact_answer_cell (
    run_date date NOT NULL,
    batch text NOT NULL,
    question_id text NOT NULL,
    marker text NOT NULL,
    row_number integer NOT NULL,
    column_number integer NOT NULL,
    column_name text NOT NULL,
    column_label text NOT NULL,
    unit text NOT NULL,
    value_text text,
    value_number numeric,
    value_date date,
    value_timestamp timestamptz,
    PRIMARY KEY (run_date, batch, question_id, marker, row_number, column_number)
) PARTITION BY RANGE (run_date);

CREATE TABLE reports.fact_evidence (
    run_date date NOT NULL,
    batch text NOT NULL,
    question_id text NOT NULL,
    marker text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('sql', 'document')),
    reference text NOT NULL,
    title text NOT NULL,
    excerpt text NOT NULL,
    document_id text,
    page integer,
    sql_text text,
    row_count integer,
    truncated_by text,
    PRIMARY KEY (run_date, batch, question_id, marker)
) PARTITION BY RANGE (run_date);

CREATE TABLE reports.fact_validation (
    run_date date NOT NULL,
    batch text NOT NULL,
    question_id text NOT NULL,
    check_id text NOT NULL,
    verdict text NOT NULL CHECK (verdict IN ('pass', 'fail', 'error', 'not_judged')),
    severity text NOT NULL CHECK (severity IN ('critical', 'warning', 'info')),
    observed text,
    threshold text,
    message text NOT NULL,
    PRIMARY KEY (run_date, batch, question_id, check_id)
) PARTITION BY RANGE (run_date);

CREATE FUNCTION nightshift.ensure_report_partitions(of_day date) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    first_day date := date_trunc('month', of_day)::date;
    fact text;
    partition_name text;
BEGIN
    FOREACH fact IN ARRAY ARRAY['fact_answer', 'fact_answer_cell', 'fact_evidence', 'fact_validation'] LOOP
        partition_name := fact || to_char(first_day, '_YYYY_MM');
        IF to_regclass('reports.' || quote_ident(partition_name)) IS NULL THEN
            EXECUTE format(
                'CREATE TABLE reports.%I PARTITION OF reports.%I FOR VALUES FROM (%L) TO (%L)',
                partition_name, fact, first_day, (first_day + interval '1 month')::date
            );
        END IF;
    END LOOP;
END
$$;
