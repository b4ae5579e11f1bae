DELETE FROM reports.fact_answer_cell
WHERE batch = %(batch)s AND run_date = %(run_date)s;
