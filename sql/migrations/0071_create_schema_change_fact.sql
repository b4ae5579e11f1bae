-- Schema drift as a fact of the star: one row a change, with the day that joins it to dim_date.
CREATE VIEW reports.fact_schema_change AS
SELECT
    c.event_id,
    (c.opened_at AT TIME ZONE 'UTC')::date AS opened_on,
    c.warehouse,
    c.kind,
    c.object,
    c.before_value,
    c.after_value,
    c.severity,
    c.confidence,
    c.state,
    c.affected_count,
    c.affected_questions,
    c.affected_metrics,
    c.opened_at,
    c.last_seen_at,
    c.closed_at,
    c.decided_by,
    c.note
FROM reports.schema_change AS c;

COMMENT ON VIEW reports.fact_schema_change IS 'One row a change of the warehouse''s schema, with the day it was found';
COMMENT ON COLUMN reports.fact_schema_change.event_id IS 'Number of the event';
COMMENT ON COLUMN reports.fact_schema_change.opened_on IS 'Day in UTC on which it was found first; joins dim_date.day';
COMMENT ON COLUMN reports.fact_schema_change.warehouse IS 'The warehouse, as dialect:database';
COMMENT ON COLUMN reports.fact_schema_change.kind IS 'What happened, such as column_removed or type_narrowed';
COMMENT ON COLUMN reports.fact_schema_change.object IS 'The table or column under its earlier name';
COMMENT ON COLUMN reports.fact_schema_change.before_value IS 'How it was';
COMMENT ON COLUMN reports.fact_schema_change.after_value IS 'How it is';
COMMENT ON COLUMN reports.fact_schema_change.severity IS 'breaking, risky, compatible or cosmetic';
COMMENT ON COLUMN reports.fact_schema_change.confidence IS
'1 where the catalog or a person proves it, less for a rename that is only probable';
COMMENT ON COLUMN reports.fact_schema_change.state IS
'open, noted, accepted, rejected, mapped, reverted or superseded';
COMMENT ON COLUMN reports.fact_schema_change.affected_count IS
'Number of plans, metrics, queries and expectations that it touches';
COMMENT ON COLUMN reports.fact_schema_change.affected_questions IS 'Ids of the standing questions that it touches';
COMMENT ON COLUMN reports.fact_schema_change.affected_metrics IS 'Names of the metrics that it touches';
COMMENT ON COLUMN reports.fact_schema_change.opened_at IS 'When it was found first';
COMMENT ON COLUMN reports.fact_schema_change.last_seen_at IS 'When it was found last';
COMMENT ON COLUMN reports.fact_schema_change.closed_at IS
'When it was decided, noted or undone; empty while it is open';
COMMENT ON COLUMN reports.fact_schema_change.decided_by IS 'Who decided';
COMMENT ON COLUMN reports.fact_schema_change.note IS 'What was said about the decision';
