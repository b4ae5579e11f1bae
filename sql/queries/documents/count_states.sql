SELECT
    state,
    count(*) AS documents
FROM nightshift.document
WHERE
    %(words)s::text IS NULL
    OR strpos(lower(title), lower(%(words)s)) > 0
    OR strpos(lower(path), lower(%(words)s)) > 0
GROUP BY state
ORDER BY state
