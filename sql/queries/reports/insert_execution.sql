INSERT INTO reports.fact_sql_execution (
    run_date, batch, question_id, marker, task, strategy, sql_text, tables, row_count, truncated_by, confidence,
    seconds
)
VALUES (
    %(run_date)s, %(batch)s, %(question_id)s, %(marker)s, %(task)s, %(strategy)s, %(sql_text)s, %(tables)s,
    %(row_count)s, %(truncated_by)s, %(confidence)s, %(seconds)s
);
