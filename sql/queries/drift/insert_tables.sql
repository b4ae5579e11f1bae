INSERT INTO nightshift.schema_table (digest, content)
SELECT
    t.digest,
    t.content::jsonb
FROM unnest(%(digests)s::text [], %(contents)s::text []) AS t (digest, content)
ON CONFLICT (digest) DO NOTHING
