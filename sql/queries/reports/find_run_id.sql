SELECT run_id
FROM reports.dim_run
WHERE batch = %(batch)s AND run_date = %(run_date)s;
