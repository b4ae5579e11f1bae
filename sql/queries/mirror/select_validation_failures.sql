SELECT v.batch, v.question_id, v.run_date, v.check_id, v.severity, v.verdict, v.observed, v.threshold, v.message
FROM {schema}.fact_validation AS v
WHERE v.verdict IN ('fail', 'error');
