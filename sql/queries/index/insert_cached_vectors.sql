INSERT INTO nightshift.embedding_cache (model_id, text_hash, embedding)
SELECT
    %(model_id)s,
    new.text_hash,
    new.embedding::halfvec
FROM unnest(%(digests)s::bytea[], %(vectors)s::text[]) AS new (text_hash, embedding)
ON CONFLICT DO NOTHING
