SELECT pg_advisory_xact_lock(hashtextextended(%(batch)s || '@' || %(run_date)s::text, 40));
