UPDATE nightshift.plan
SET state = 'stale', reason = %(reason)s, updated_at = %(moment)s
WHERE
    state IN ('draft', 'approved')
    -- A repaired plan is named after the one that it replaced.
    AND position('~' IN plan_id) > 0
    AND (%(target)s::text = any(columns) OR %(target)s::text = any(tables))
