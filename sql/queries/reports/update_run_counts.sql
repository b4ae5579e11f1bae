UPDATE reports.dim_run AS r
SET published = counted.published, quarantined = counted.quarantined
FROM (
    SELECT
        count(*) FILTER (WHERE state = 'published') AS published,
        count(*) FILTER (WHERE state = 'quarantined') AS quarantined
    FROM reports.fact_answer
    WHERE batch = %(batch)s AND run_date = %(run_date)s
) AS counted
WHERE r.batch = %(batch)s AND r.run_date = %(run_date)s;
