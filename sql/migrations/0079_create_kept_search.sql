-- What a search step found, with the sentences chosen, for as long as the index stays as it was.
CREATE TABLE nightshift.kept_search (
    step_hash bytea PRIMARY KEY,
    generation bigint NOT NULL,
    version_no smallint NOT NULL,
    outcome text NOT NULL
);
