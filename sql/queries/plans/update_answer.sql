UPDATE nightshift.plan
SET answer = %(answer)s
WHERE plan_id = %(plan_id)s AND answer <> %(answer)s
