SELECT pg_advisory_xact_lock(hashtextextended('nightshift.drift_alert', 0))
