SELECT thread_id
FROM nightshift.checkpoints
GROUP BY thread_id
HAVING max((checkpoint ->> 'ts')::timestamptz) < %(before)s;
