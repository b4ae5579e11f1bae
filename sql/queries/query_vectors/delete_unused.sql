DELETE FROM nightshift.query_vector
WHERE used_on < current_date - %(days)s::integer
