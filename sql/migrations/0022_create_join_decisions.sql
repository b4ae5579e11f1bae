-- Joins that no foreign key declares, as somebody approved or rejected them.
CREATE TABLE nightshift.join_decision (
    warehouse text NOT NULL,
    left_side text NOT NULL,
    right_side text NOT NULL,
    verdict text NOT NULL CHECK (verdict IN ('approved', 'rejected')),
    actor text NOT NULL,
    note text NOT NULL DEFAULT '',
    decided_at timestamptz NOT NULL,
    PRIMARY KEY (warehouse, left_side, right_side)
);
