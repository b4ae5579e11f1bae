UPDATE nightshift.plan
SET state = 'retired', reason = 'a newer plan took its place', updated_at = now()
WHERE question_key = %(question_key)s AND plan_id <> %(plan_id)s AND state IN ('draft', 'approved')
