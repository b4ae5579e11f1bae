SELECT
    embedding,
    current_date - used_on AS days
FROM nightshift.query_vector
WHERE model_id = %(model_id)s AND text_hash = %(text_hash)s
