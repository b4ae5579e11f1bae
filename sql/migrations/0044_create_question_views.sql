-- Which view in `reports` shows which question, and which of its columns shows which column of the results.
-- A view's columns are only ever appended: renaming one breaks the datasets that BI tools built on it.
CREATE TABLE nightshift.question_view (
    view_name text PRIMARY KEY,
    batch text NOT NULL,
    question_id text NOT NULL,
    UNIQUE (batch, question_id)
);

CREATE TABLE nightshift.question_view_column (
    view_name text NOT NULL REFERENCES nightshift.question_view ON DELETE CASCADE,
    position integer NOT NULL,
    column_name text NOT NULL,
    source_name text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('number', 'date', 'timestamp', 'boolean', 'text')),
    description text NOT NULL,
    PRIMARY KEY (view_name, position),
    UNIQUE (view_name, column_name),
    UNIQUE (view_name, source_name, kind)
);
