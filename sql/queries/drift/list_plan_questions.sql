SELECT
    plan_id,
    question_id,
    question
FROM nightshift.plan
WHERE state IN ('draft', 'approved', 'stale')
