DELETE FROM reports.fact_answer
WHERE batch = %(batch)s AND run_date = %(run_date)s;
