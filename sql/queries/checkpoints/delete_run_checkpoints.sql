DELETE FROM nightshift.checkpoints
WHERE starts_with(thread_id, %(prefix)s);
