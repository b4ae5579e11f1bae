SELECT DISTINCT ON (batch) batch_title, report_path
FROM reports.run_summary
WHERE report_path IS NOT NULL
ORDER BY batch ASC, run_date DESC;
