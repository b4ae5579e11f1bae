SELECT text_hash
FROM nightshift.embedding_cache
WHERE model_id = %(model_id)s AND text_hash = any(%(digests)s::bytea[])
