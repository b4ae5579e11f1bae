DELETE FROM nightshift.checkpoint_writes
WHERE starts_with(thread_id, %(prefix)s);
