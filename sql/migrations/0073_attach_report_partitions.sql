-- A month's partitions are made apart and attached: that lets readers and writers of the other months go on, where
-- CREATE TABLE ... PARTITION OF waits for all of them. One at a time, so that two batches that publish the first run of
-- a month at once do not wait for each other for ever.
CREATE OR REPLACE FUNCTION nightshift.ensure_report_partitions(of_day date) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    first_day date := date_trunc('month', of_day)::date;
    next_month date := (date_trunc('month', of_day) + interval '1 month')::date;
    wanted text[] := ARRAY(
        SELECT fact || to_char(first_day, '_YYYY_MM') FROM unnest(nightshift.report_facts()) AS fact
    );
    fact text;
    partition_name text;
BEGIN
    IF EXISTS (SELECT 1 FROM unnest(wanted) AS name WHERE to_regclass('reports.' || quote_ident(name)) IS NULL) THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('nightshift.report_partitions', 73));
        FOREACH fact IN ARRAY nightshift.report_facts() LOOP
            partition_name := fact || to_char(first_day, '_YYYY_MM');
            -- Looked at again: another run may have made it while this one waited. A query sees that at once;
            -- to_regclass() may still answer out of what this session remembers.
            IF NOT EXISTS (
                SELECT 1 FROM pg_class
                WHERE relnamespace = 'reports'::regnamespace AND relname = partition_name
            ) THEN
                EXECUTE format('CREATE TABLE reports.%I (LIKE reports.%I INCLUDING ALL)', partition_name, fact);
                EXECUTE format(
                    'ALTER TABLE reports.%I ATTACH PARTITION reports.%I FOR VALUES FROM (%L) TO (%L)',
                    fact, partition_name, first_day, next_month
                );
            END IF;
        END LOOP;
    END IF;
    INSERT INTO reports.dim_date
    SELECT
        day, extract(year FROM day), extract(quarter FROM day), extract(month FROM day),
        trim(to_char(day, 'Month')), extract(week FROM day), extract(isodow FROM day),
        trim(to_char(day, 'Day')), extract(isodow FROM day) >= 6
    FROM (
        SELECT generate_series(first_day, next_month - 1, interval '1 day')::date AS day
    ) AS days
    ON CONFLICT (day) DO NOTHING;
END
$$;
