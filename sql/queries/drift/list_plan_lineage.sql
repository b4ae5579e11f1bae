SELECT
    p.plan_id,
    p.question_id,
    p.tables,
    p.columns,
    p.statements,
    coalesce((
        SELECT string_agg(DISTINCT b.owner, ', ' ORDER BY b.owner)
        FROM reports.dim_question AS q
        INNER JOIN reports.dim_batch AS b ON q.batch = b.batch
        WHERE q.question_id = p.question_id
    ), '') AS owner
FROM nightshift.plan AS p
WHERE p.state IN ('draft', 'approved', 'stale')
ORDER BY p.plan_id
