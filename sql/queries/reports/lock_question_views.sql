SELECT pg_advisory_xact_lock(hashtextextended('nightshift.question_view', 40));
