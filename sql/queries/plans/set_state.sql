UPDATE nightshift.plan
SET state = %(state)s, reason = %(reason)s, updated_at = now()
WHERE plan_id = %(plan_id)s
RETURNING plan_id
