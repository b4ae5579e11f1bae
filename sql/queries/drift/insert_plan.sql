INSERT INTO nightshift.plan (
    plan_id, question_key, question, question_id, state, strategy, plan, statements, tables, columns, fingerprints,
    reason, created_at, updated_at
) VALUES (
    %(plan_id)s, %(question_key)s, %(question)s, %(question_id)s, 'draft', %(strategy)s, %(plan)s, %(statements)s,
    %(tables)s, %(columns)s, %(fingerprints)s, %(reason)s, %(moment)s, %(moment)s
)
ON CONFLICT (plan_id) DO UPDATE
SET
    state = excluded.state,
    plan = excluded.plan,
    statements = excluded.statements,
    tables = excluded.tables,
    columns = excluded.columns,
    fingerprints = excluded.fingerprints,
    reason = excluded.reason,
    updated_at = excluded.updated_at
