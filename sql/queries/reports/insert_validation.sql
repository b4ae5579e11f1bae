INSERT INTO reports.fact_validation (
    run_date, batch, question_id, check_id, verdict, severity, observed, threshold, message
)
VALUES (
    %(run_date)s, %(batch)s, %(question_id)s, %(check_id)s, %(verdict)s, %(severity)s, %(observed)s,
    %(threshold)s, %(message)s
);
