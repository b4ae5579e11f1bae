-- How each question was answered, with what was expected of the way chosen and what came of it. `auto` learns from it.
CREATE TABLE nightshift.strategy_use (
    use_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    run_id text NOT NULL,
    question_id text NOT NULL,
    question_key text NOT NULL,
    question_class text NOT NULL,
    strategy text NOT NULL,
    -- whether the asker named the strategy
    asked_for boolean NOT NULL,
    why text NOT NULL,
    expected_model_calls double precision NOT NULL,
    expected_tokens double precision NOT NULL,
    expected_cost_usd double precision,
    expected_milliseconds double precision,
    model_calls integer NOT NULL,
    tokens bigint NOT NULL,
    cost_usd double precision,
    milliseconds double precision NOT NULL,
    status text NOT NULL,
    reflected boolean NOT NULL,
    reflection_helped boolean NOT NULL
);

CREATE INDEX strategy_use_class_idx ON nightshift.strategy_use (question_class, strategy, use_no DESC);
