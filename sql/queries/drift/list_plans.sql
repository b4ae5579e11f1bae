SELECT
    plan_id,
    question_key,
    question,
    question_id,
    state,
    strategy,
    plan,
    statements,
    tables,
    columns,
    fingerprints
FROM nightshift.plan
WHERE state IN ('draft', 'approved') AND tables && %(tables)s::text []
ORDER BY plan_id
