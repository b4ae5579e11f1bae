-- Who was told of which schema change over which channel, so that nobody is told twice.
CREATE TABLE nightshift.drift_alert (
    event_id bigint NOT NULL REFERENCES nightshift.drift_event,
    owner text NOT NULL,
    channel text NOT NULL,
    sent_at timestamptz NOT NULL,
    PRIMARY KEY (event_id, owner, channel)
);

COMMENT ON COLUMN reports.answer_history.status IS
'What the core said: answered, partial, no_evidence, needs_model, refused, needs_clarification, paused or failed';
COMMENT ON COLUMN reports.answer_latest.status IS
'What the core said: answered, partial, no_evidence, needs_model, refused, needs_clarification, paused or failed';
