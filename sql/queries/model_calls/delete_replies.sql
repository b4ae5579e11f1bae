DELETE FROM nightshift.model_reply
WHERE run_id = %(run_id)s OR replied_at < %(before)s;
