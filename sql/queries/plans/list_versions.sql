SELECT plan_id, question_key, question, question_id, state, strategy, plan, statements, tables, columns, fingerprints,
    reason, created_at, updated_at
FROM nightshift.plan
WHERE question_key = %(question_key)s
ORDER BY updated_at DESC, plan_id ASC
