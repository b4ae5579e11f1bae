SELECT coalesce(max(v), -1) AS version FROM nightshift.checkpoint_migrations;
