INSERT INTO nightshift.batch_notice (run_id, channel) VALUES (%(run_id)s, %(channel)s)
ON CONFLICT DO NOTHING
RETURNING run_id;
