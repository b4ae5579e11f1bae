INSERT INTO nightshift.term (term)
SELECT new.term
FROM unnest(%(terms)s::text[]) AS new (term)
ORDER BY new.term
RETURNING term, term_no
