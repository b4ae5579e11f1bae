UPDATE nightshift.plan
SET state = %(state)s, reason = %(reason)s, updated_at = %(moment)s
WHERE plan_id = %(plan_id)s
