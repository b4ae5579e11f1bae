-- What BI tools see of schema drift.
CREATE VIEW reports.schema_change AS
SELECT
    e.event_id,
    e.warehouse,
    e.kind,
    e.object,
    e.change ->> 'before' AS before_value,
    e.change ->> 'after' AS after_value,
    e.severity,
    (e.change ->> 'confidence')::double precision AS confidence,
    e.state,
    jsonb_array_length(e.change -> 'affected') AS affected_count,
    (
        SELECT string_agg(DISTINCT a.item ->> 'question_id', ', ' ORDER BY a.item ->> 'question_id')
        FROM jsonb_array_elements(e.change -> 'affected') AS a (item)
    ) AS affected_questions,
    (
        SELECT string_agg(DISTINCT a.item ->> 'metric', ', ' ORDER BY a.item ->> 'metric')
        FROM jsonb_array_elements(e.change -> 'affected') AS a (item)
    ) AS affected_metrics,
    e.opened_at,
    e.last_seen_at,
    e.closed_at,
    e.decided_by,
    e.note
FROM nightshift.drift_event AS e;

CREATE VIEW reports.schema_change_decision AS
SELECT
    d.decision_id,
    d.event_id,
    e.warehouse,
    e.object,
    e.kind,
    d.decision,
    d.target,
    d.actor,
    d.note,
    d.decided_at
FROM nightshift.drift_decision AS d
INNER JOIN nightshift.drift_event AS e ON d.event_id = e.event_id;

COMMENT ON VIEW reports.schema_change IS 'Every change of the warehouse''s schema that was found, and what became of it';
COMMENT ON COLUMN reports.schema_change.event_id IS 'Number of the event';
COMMENT ON COLUMN reports.schema_change.warehouse IS 'The warehouse, as dialect:database';
COMMENT ON COLUMN reports.schema_change.kind IS 'What happened, such as column_removed or type_narrowed';
COMMENT ON COLUMN reports.schema_change.object IS 'The table or column under its earlier name';
COMMENT ON COLUMN reports.schema_change.before_value IS 'How it was';
COMMENT ON COLUMN reports.schema_change.after_value IS 'How it is';
COMMENT ON COLUMN reports.schema_change.severity IS 'breaking, risky, compatible or cosmetic';
COMMENT ON COLUMN reports.schema_change.confidence IS '1 where the catalog or a person proves it, less for a rename that is only probable';
COMMENT ON COLUMN reports.schema_change.state IS 'open, noted, accepted, rejected, mapped, reverted or superseded';
COMMENT ON COLUMN reports.schema_change.affected_count IS 'Number of plans, metrics, queries and expectations that it touches';
COMMENT ON COLUMN reports.schema_change.affected_questions IS 'Ids of the standing questions that it touches';
COMMENT ON COLUMN reports.schema_change.affected_metrics IS 'Names of the metrics that it touches';
COMMENT ON COLUMN reports.schema_change.opened_at IS 'When it was found first';
COMMENT ON COLUMN reports.schema_change.last_seen_at IS 'When it was found last';
COMMENT ON COLUMN reports.schema_change.closed_at IS 'When it was decided, noted or undone; empty while it is open';
COMMENT ON COLUMN reports.schema_change.decided_by IS 'Who decided';
COMMENT ON COLUMN reports.schema_change.note IS 'What was said about the decision';
COMMENT ON VIEW reports.schema_change_decision IS 'Every decision on a schema change, with who made it and when';
