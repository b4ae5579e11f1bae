INSERT INTO nightshift.query_vector (model_id, text_hash, embedding)
VALUES (%(model_id)s, %(text_hash)s, %(embedding)s)
ON CONFLICT (model_id, text_hash) DO UPDATE SET embedding = excluded.embedding, used_on = current_date
