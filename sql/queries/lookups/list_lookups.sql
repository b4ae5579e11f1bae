SELECT
    kind,
    subject,
    found
FROM nightshift.value_lookup
WHERE scope = %(scope)s AND looked_at > %(oldest)s
