-- What was done and by whom, in a chain of hashes: a changed, removed or inserted event breaks every later hash.
CREATE TABLE reports.audit_event (
    event_id bigint PRIMARY KEY,
    happened_at timestamptz NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    object text NOT NULL,
    detail text NOT NULL,
    previous_hash text NOT NULL,
    hash text NOT NULL
);

COMMENT ON TABLE reports.audit_event IS 'What was done and by whom; append-only, each event holds the hash of the one before';
COMMENT ON COLUMN reports.audit_event.event_id IS 'Number of the event, from 1 without gaps';
COMMENT ON COLUMN reports.audit_event.happened_at IS 'When it happened';
COMMENT ON COLUMN reports.audit_event.actor IS 'Who did it: a person, or nightshift itself';
COMMENT ON COLUMN reports.audit_event.action IS 'What was done, such as run.published or answer.released';
COMMENT ON COLUMN reports.audit_event.object IS 'To what, such as batch/question@date';
COMMENT ON COLUMN reports.audit_event.detail IS 'More about it, as JSON';
COMMENT ON COLUMN reports.audit_event.previous_hash IS 'Hash of the event before; 64 zeros for the first';
COMMENT ON COLUMN reports.audit_event.hash IS 'SHA-256 over the other fields, each with its length';

CREATE FUNCTION nightshift.refuse_audit_change() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'reports.audit_event is append-only';
END
$$;

CREATE TRIGGER audit_event_is_append_only
BEFORE UPDATE OR DELETE ON reports.audit_event
FOR EACH ROW EXECUTE FUNCTION nightshift.refuse_audit_change();

CREATE TRIGGER audit_event_is_never_emptied
BEFORE TRUNCATE ON reports.audit_event
FOR EACH STATEMENT EXECUTE FUNCTION nightshift.refuse_audit_change();

-- Length and text of one field: no two lists of fields have the same spelling.
CREATE FUNCTION nightshift.audit_field(field text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT octet_length(convert_to(field, 'UTF8'))::text || ':' || field || ';'
$$;

CREATE FUNCTION nightshift.append_audit_event(actor text, action text, object text, detail text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    number bigint;
    before text;
    spelled text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('nightshift.audit_event', 40));
    SELECT e.event_id, e.hash INTO number, before
    FROM reports.audit_event AS e
    ORDER BY e.event_id DESC
    LIMIT 1;
    number := coalesce(number, 0) + 1;
    before := coalesce(before, repeat('0', 64));
    spelled := nightshift.audit_field(number::text)
        || nightshift.audit_field(to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
        || nightshift.audit_field(actor) || nightshift.audit_field(action) || nightshift.audit_field(object)
        || nightshift.audit_field(detail) || nightshift.audit_field(before);
    INSERT INTO reports.audit_event (event_id, happened_at, actor, action, object, detail, previous_hash, hash)
    VALUES (
        number, moment, actor, action, object, detail, before, encode(sha256(convert_to(spelled, 'UTF8')), 'hex')
    );
    RETURN number;
END
$$;
