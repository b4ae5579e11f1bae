-- BI tools show comments: the decisions on schema changes have theirs too.
COMMENT ON VIEW reports.schema_change_decision IS 'Every decision on a change of the warehouse''s schema, with who and when';
COMMENT ON COLUMN reports.schema_change_decision.decision_id IS 'Number of the decision';
COMMENT ON COLUMN reports.schema_change_decision.event_id IS 'Number of the event that was decided on';
COMMENT ON COLUMN reports.schema_change_decision.warehouse IS 'The warehouse, as dialect:database';
COMMENT ON COLUMN reports.schema_change_decision.object IS 'The table or column under its earlier name';
COMMENT ON COLUMN reports.schema_change_decision.kind IS 'What had happened, such as column_removed';
COMMENT ON COLUMN reports.schema_change_decision.decision IS 'accepted, rejected or mapped';
COMMENT ON COLUMN reports.schema_change_decision.target IS 'What a mapped column or table has become';
COMMENT ON COLUMN reports.schema_change_decision.actor IS 'Who decided';
COMMENT ON COLUMN reports.schema_change_decision.note IS 'The reason given';
COMMENT ON COLUMN reports.schema_change_decision.decided_at IS 'When it was decided';
