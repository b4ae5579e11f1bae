DELETE FROM nightshift.checkpoint_blobs
WHERE starts_with(thread_id, %(prefix)s);
