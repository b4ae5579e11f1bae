DELETE FROM nightshift.value_lookup
WHERE looked_at <= %(oldest)s
