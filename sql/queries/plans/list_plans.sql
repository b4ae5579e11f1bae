SELECT plan_id, question_key, question, question_id, state, strategy, plan, statements, tables, columns, fingerprints,
    reason, answer, was_approved, replaces, created_at, updated_at
FROM nightshift.plan
WHERE %(state)s::text IS NULL OR state = %(state)s
ORDER BY created_at, plan_id
