DELETE FROM reports.fact_validation
WHERE batch = %(batch)s AND run_date = %(run_date)s;
