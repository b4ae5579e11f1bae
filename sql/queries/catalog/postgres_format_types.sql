SELECT pg_catalog.format_type(t.type_oid, t.modifier) AS type_name
FROM unnest(%(type_oids)s::oid [], %(modifiers)s::integer []) WITH ORDINALITY AS t (type_oid, modifier, ordinal)
ORDER BY t.ordinal
