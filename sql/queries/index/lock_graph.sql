-- One session builds at a time, and gives it up when it ends: to another one the graph would look half built.
SELECT pg_try_advisory_lock(hashtextextended('nightshift.graph', 0)) AS locked
