INSERT INTO nightshift.kept_search (step_hash, generation, version_no, outcome)
VALUES (%(step_hash)s, %(generation)s, %(version_no)s, %(outcome)s)
ON CONFLICT (step_hash) DO UPDATE SET
generation = excluded.generation,
version_no = excluded.version_no,
outcome = excluded.outcome
