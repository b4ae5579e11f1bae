DELETE FROM reports.fact_evidence
WHERE batch = %(batch)s AND run_date = %(run_date)s;
