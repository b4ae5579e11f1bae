-- When statements of the last minute began on each warehouse, for a rate limit that holds over all processes. One row a
-- warehouse, changed by one statement; nobody misses it after a crash, so that it is not logged.
CREATE UNLOGGED TABLE nightshift.warehouse_turn (
    warehouse text PRIMARY KEY,
    begun timestamptz[] NOT NULL,
    taken boolean NOT NULL,
    opens_in double precision NOT NULL
);
COMMENT ON TABLE nightshift.warehouse_turn IS 'Statements that began on a warehouse within the last minute.';
COMMENT ON COLUMN nightshift.warehouse_turn.taken IS 'Whether whoever asked last got a turn.';
COMMENT ON COLUMN nightshift.warehouse_turn.opens_in IS 'Seconds until a turn is free, as told to whoever asked last.';
