INSERT INTO nightshift.plan (
    plan_id, question_key, question, question_id, state, strategy, plan, statements, tables, columns, fingerprints,
    reason, answer, replaces
)
VALUES (
    %(plan_id)s, %(question_key)s, %(question)s, %(question_id)s, %(state)s, %(strategy)s, %(plan)s, %(statements)s,
    %(tables)s, %(columns)s, %(fingerprints)s, %(reason)s, %(answer)s, %(replaces)s
)
ON CONFLICT (plan_id) DO UPDATE
SET
    state = CASE WHEN nightshift.plan.state = 'approved' THEN 'approved' ELSE excluded.state END,
    question_id = coalesce(excluded.question_id, nightshift.plan.question_id),
    plan = excluded.plan,
    statements = excluded.statements,
    tables = excluded.tables,
    columns = excluded.columns,
    fingerprints = excluded.fingerprints,
    reason = excluded.reason,
    answer = excluded.answer,
    replaces = coalesce(excluded.replaces, nightshift.plan.replaces),
    was_approved = false,
    updated_at = now()
