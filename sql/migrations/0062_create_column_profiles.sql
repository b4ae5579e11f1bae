-- What columns that questions read hold, to recognise one that comes back under another name. Values are kept as hashes
-- only: nobody can read them here.
CREATE TABLE nightshift.column_profile (
    warehouse text NOT NULL,
    table_name text NOT NULL,
    column_name text NOT NULL,
    profile jsonb NOT NULL,
    taken_at timestamptz NOT NULL,
    PRIMARY KEY (warehouse, table_name, column_name)
);
