SELECT
    e.enumtypid::bigint AS enum_type,
    array_agg(e.enumlabel::text ORDER BY e.enumsortorder) AS labels
FROM pg_catalog.pg_enum AS e
GROUP BY e.enumtypid
