SELECT pg_advisory_xact_lock(hashtextextended('nightshift.batch.' || %(batch)s, 40));
