SELECT plan_id, question_key, question, question_id, state, strategy, plan, statements, tables, columns, fingerprints,
    reason, answer, was_approved, replaces, created_at, updated_at
FROM nightshift.plan
WHERE question_key = %(question_key)s AND state IN ('draft', 'approved')
