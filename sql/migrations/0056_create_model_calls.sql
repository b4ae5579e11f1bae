-- Every request to a chat model, with OpenTelemetry's names for what is generative (dots as underscores).
-- A row is written before the request and settled after it: what a killed process had under way stays `running` and
-- counts with its estimate, because the endpoint may have billed it.
CREATE TABLE reports.fact_model_call (
    call_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    run_id text NOT NULL,
    question_id text NOT NULL,
    node text NOT NULL,
    state text NOT NULL CHECK (state IN ('running', 'done', 'failed')),
    gen_ai_operation_name text NOT NULL DEFAULT 'chat',
    gen_ai_provider_name text NOT NULL,
    gen_ai_output_type text NOT NULL DEFAULT 'json',
    server_address text NOT NULL,
    gen_ai_request_model text NOT NULL,
    gen_ai_request_temperature double precision NOT NULL DEFAULT 0,
    gen_ai_request_max_tokens integer NOT NULL,
    gen_ai_response_model text,
    gen_ai_response_id text,
    gen_ai_response_finish_reason text,
    -- an estimate while running
    gen_ai_usage_input_tokens bigint NOT NULL,
    gen_ai_usage_output_tokens bigint NOT NULL,
    gen_ai_usage_cache_read_input_tokens bigint NOT NULL DEFAULT 0,
    gen_ai_client_operation_duration double precision,
    error_type text,
    cost_usd numeric(14, 6)
);

CREATE INDEX fact_model_call_by_time ON reports.fact_model_call (started_at);
CREATE INDEX fact_model_call_by_run ON reports.fact_model_call (run_id, question_id);

COMMENT ON TABLE reports.fact_model_call IS 'Every request to a chat model: tokens, cost, duration, outcome';
COMMENT ON COLUMN reports.fact_model_call.call_no IS 'Number of the request';
COMMENT ON COLUMN reports.fact_model_call.started_at IS 'When the request was sent';
COMMENT ON COLUMN reports.fact_model_call.run_id IS 'Id of the batch run; empty outside a batch';
COMMENT ON COLUMN reports.fact_model_call.question_id IS 'Id of the standing question; empty for a question asked once';
COMMENT ON COLUMN reports.fact_model_call.node IS 'Node of the graph that asked';
COMMENT ON COLUMN reports.fact_model_call.state IS 'running, done or failed; running long after means that the process died';
COMMENT ON COLUMN reports.fact_model_call.gen_ai_operation_name IS 'Kind of operation: chat';
COMMENT ON COLUMN reports.fact_model_call.gen_ai_provider_name IS 'Provider as far as its address tells: openai, azure.ai.openai or openai_compatible';
COMMENT ON COLUMN reports.fact_model_call.gen_ai_output_type IS 'Type of output asked for: json';
COMMENT ON COLUMN reports.fact_model_call.server_address IS 'Host of the endpoint';
COMMENT ON COLUMN reports.fact_model_call.gen_ai_request_model IS 'Model asked for';
COMMENT ON COLUMN reports.fact_model_call.gen_ai_request_temperature IS 'Temperature asked for';
COMMENT ON COLUMN reports.fact_model_call.gen_ai_request_max_tokens IS 'Most tokens of the reply';
COMMENT ON COLUMN reports.fact_model_call.gen_ai_response_model IS 'Model that replied';
COMMENT ON COLUMN reports.fact_model_call.gen_ai_response_id IS 'The endpoint''s id of the reply';
COMMENT ON COLUMN reports.fact_model_call.gen_ai_response_finish_reason IS 'Why the reply ended: stop, length, content_filter';
COMMENT ON COLUMN reports.fact_model_call.gen_ai_usage_input_tokens IS 'Tokens of the prompt; an estimate while running';
COMMENT ON COLUMN reports.fact_model_call.gen_ai_usage_output_tokens IS 'Tokens of the reply; the most possible while running';
COMMENT ON COLUMN reports.fact_model_call.gen_ai_usage_cache_read_input_tokens IS 'Tokens of the prompt read from the endpoint''s cache';
COMMENT ON COLUMN reports.fact_model_call.gen_ai_client_operation_duration IS 'Duration in seconds';
COMMENT ON COLUMN reports.fact_model_call.error_type IS 'Status or kind of the error; NULL where there was none';
COMMENT ON COLUMN reports.fact_model_call.cost_usd IS 'Cost in US dollars; NULL where the model has no price';

-- Replies of a run that has not ended, so that a run that is killed between a reply and its checkpoint pays once.
CREATE TABLE nightshift.model_reply (
    run_id text NOT NULL,
    -- SHA-256 of model, messages and schema
    request_key text NOT NULL,
    call_no bigint NOT NULL REFERENCES reports.fact_model_call ON DELETE CASCADE,
    question_id text NOT NULL,
    reply text NOT NULL,
    problem text NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cost_usd numeric(14, 6),
    replied_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (run_id, request_key)
);
CREATE INDEX model_reply_call_idx ON nightshift.model_reply (call_no);
