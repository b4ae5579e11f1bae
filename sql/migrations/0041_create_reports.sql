-- What BI tools read, as a star. Facts are partitioned by month of the run date; retention drops partitions.
-- Plain types only: BI tools show jsonb as text and NaN as null.
CREATE TABLE reports.dim_date (
    day date PRIMARY KEY,
    year integer NOT NULL,
    quarter integer NOT NULL,
    month integer NOT NULL,
    month_name text NOT NULL,
    iso_week integer NOT NULL,
    weekday integer NOT NULL,
    weekday_name text NOT NULL,
    is_weekend boolean NOT NULL
);

CREATE TABLE reports.dim_batch (
    batch text PRIMARY KEY,
    title text NOT NULL,
    description text NOT NULL,
    owner text NOT NULL,
    audience text NOT NULL,
    schedule text,
    timezone text NOT NULL,
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

CREATE TABLE reports.dim_check (
    batch text NOT NULL,
    question_id text NOT NULL,
    check_id text NOT NULL,
    severity text NOT NULL CHECK (severity IN ('critical', 'warning', 'info')),
    description text NOT NULL,
    PRIMARY KEY (batch, question_id, check_id)
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
    row_count integer,
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
    fingerprint text NOT NULL,
    review text CHECK (review IN ('released', 'rejected')),
    reviewed_by text,
    reviewed_at timestamptz,
    review_note text,
    PRIMARY KEY (run_date, batch, question_id)
) PARTITION BY RANGE (run_date);

CREATE INDEX fact_answer_by_question ON reports.fact_answer (batch, question_id, run_date DESC);

CREATE TABLE reports.fact_answer_cell (
    run_date date NOT NULL,
    batch text NOT NULL,
    question_id text NOT NULL,
    marker text NOT NULL,
    result_number integer NOT NULL,
    row_number integer NOT NULL,
    column_number integer NOT NULL,
    column_name text NOT NULL,
    column_label text NOT NULL,
    unit text NOT NULL,
    value_text text,
    value_number numeric,
    value_date date,
    value_timestamp timestamptz,
    value_boolean boolean,
    PRIMARY KEY (run_date, batch, question_id, marker, row_number, column_number)
) PARTITION BY RANGE (run_date);

CREATE INDEX fact_answer_cell_by_question ON reports.fact_answer_cell (batch, question_id, run_date DESC);

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

CREATE TABLE reports.fact_sql_execution (
    run_date date NOT NULL,
    batch text NOT NULL,
    question_id text NOT NULL,
    marker text NOT NULL,
    task text NOT NULL,
    strategy text NOT NULL,
    sql_text text NOT NULL,
    tables text NOT NULL,
    row_count integer NOT NULL,
    truncated_by text,
    confidence double precision NOT NULL,
    seconds double precision NOT NULL,
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

-- Decisions of people on answers that were kept back. A later run that finds the same answer again obeys them.
CREATE TABLE reports.fact_review (
    review_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    batch text NOT NULL,
    question_id text NOT NULL,
    run_date date NOT NULL,
    fingerprint text NOT NULL,
    decision text NOT NULL CHECK (decision IN ('released', 'rejected')),
    reviewed_by text NOT NULL,
    reviewed_at timestamptz NOT NULL DEFAULT now(),
    note text NOT NULL
);

CREATE INDEX fact_review_by_answer ON reports.fact_review (batch, question_id, run_date);

COMMENT ON TABLE reports.dim_date IS 'One row a calendar day of the months that have runs';
COMMENT ON TABLE reports.dim_batch IS 'Batches of questions, as their files last said';
COMMENT ON TABLE reports.dim_question IS 'Standing questions; a changed text is a new version';
COMMENT ON TABLE reports.dim_check IS 'What is checked of each question''s answer before it is published';
COMMENT ON TABLE reports.dim_run IS 'The run that stands for a batch and run date';
COMMENT ON TABLE reports.fact_answer IS 'One row a batch, run date and question, whatever became of the answer';
COMMENT ON TABLE reports.fact_answer_cell IS 'The cells of results, one row a cell';
COMMENT ON TABLE reports.fact_evidence IS 'Statements and passages that answers cite';
COMMENT ON TABLE reports.fact_sql_execution IS 'Statements that were run for answers';
COMMENT ON TABLE reports.fact_validation IS 'Verdicts of the checks';
COMMENT ON TABLE reports.fact_review IS 'Decisions of people on answers that were kept back';

CREATE FUNCTION nightshift.report_facts() RETURNS text []
LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY[
        'fact_answer', 'fact_answer_cell', 'fact_evidence', 'fact_sql_execution', 'fact_validation'
    ]
$$;

CREATE FUNCTION nightshift.ensure_report_partitions(of_day date) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    first_day date := date_trunc('month', of_day)::date;
    fact text;
    partition_name text;
BEGIN
    FOREACH fact IN ARRAY nightshift.report_facts() LOOP
        partition_name := fact || to_char(first_day, '_YYYY_MM');
        IF to_regclass('reports.' || quote_ident(partition_name)) IS NULL THEN
            EXECUTE format(
                'CREATE TABLE reports.%I PARTITION OF reports.%I FOR VALUES FROM (%L) TO (%L)',
                partition_name, fact, first_day, (first_day + interval '1 month')::date
            );
        END IF;
    END LOOP;
    INSERT INTO reports.dim_date
    SELECT
        day, extract(year FROM day), extract(quarter FROM day), extract(month FROM day),
        trim(to_char(day, 'Month')), extract(week FROM day), extract(isodow FROM day),
        trim(to_char(day, 'Day')), extract(isodow FROM day) >= 6
    FROM (
        SELECT generate_series(first_day, first_day + interval '1 month' - interval '1 day', interval '1 day')::date AS day
    ) AS days
    ON CONFLICT (day) DO NOTHING;
END
$$;

-- Drops the months that lie wholly before a day; returns what was dropped. Runs of those months go with them.
CREATE FUNCTION nightshift.drop_report_partitions(before_day date) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
    last_month date := date_trunc('month', before_day)::date;
    partition_name text;
BEGIN
    FOR partition_name IN
        SELECT child.relname
        FROM pg_inherits AS link
        INNER JOIN pg_class AS child ON link.inhrelid = child.oid
        INNER JOIN pg_class AS parent ON link.inhparent = parent.oid
        INNER JOIN pg_namespace AS space ON parent.relnamespace = space.oid
        WHERE
            space.nspname = 'reports' AND parent.relname = ANY (nightshift.report_facts())
            AND to_date(right(child.relname, 7), 'YYYY_MM') < last_month
        ORDER BY child.relname
    LOOP
        EXECUTE format('DROP TABLE reports.%I', partition_name);
        RETURN NEXT partition_name;
    END LOOP;
    DELETE FROM reports.dim_run WHERE run_date < last_month;
    DELETE FROM nightshift.batch_run WHERE run_date < last_month;
END
$$;
