DELETE FROM reports.fact_sql_execution
WHERE batch = %(batch)s AND run_date = %(run_date)s;
