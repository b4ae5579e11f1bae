SELECT v.check_id, v.question_id, v.verdict, v.severity, v.observed, v.threshold, v.message, v.description
FROM reports.validation_results AS v
WHERE v.batch = %(batch)s AND v.question_id = %(question_id)s AND v.run_date = %(run_date)s
ORDER BY v.check_id;
