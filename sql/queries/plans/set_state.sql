UPDATE nightshift.plan
SET
    was_approved = CASE
        WHEN %(state)s IN ('draft', 'approved', 'retired') THEN false
        ELSE was_approved OR state = 'approved'
    END,
    state = %(state)s,
    reason = %(reason)s,
    updated_at = now()
WHERE plan_id = %(plan_id)s
RETURNING plan_id
