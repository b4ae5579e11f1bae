SELECT question_key
FROM nightshift.plan
WHERE question_key = any(%(keys)s::text[]) AND state = any(%(states)s::text[])
