-- What looks at the warehouse's values told, so that they are made once a schema and not once a process: the few values
-- that a column holds, whether values of a column are found in a key, whether a column's values stand once. `scope` is a
-- digest of the schema as a principal sees it under the policy: another policy or another schema finds nothing here.
CREATE TABLE nightshift.value_lookup (
    scope text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('values', 'overlap', 'unique')),
    subject text NOT NULL,
    found jsonb NOT NULL,
    looked_at timestamptz NOT NULL,
    PRIMARY KEY (scope, kind, subject)
);
