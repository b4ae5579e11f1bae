INSERT INTO nightshift.index_version (model_id, model_setting, dimensions, max_tokens, status, serving_since)
VALUES (
    %(model_id)s, %(model_setting)s, %(dimensions)s, %(max_tokens)s, %(status)s,
    CASE WHEN %(status)s = 'serving' THEN now() END
)
RETURNING version_no
