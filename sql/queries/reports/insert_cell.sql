INSERT INTO reports.fact_answer_cell (
    run_date, batch, question_id, marker, row_number, column_number, column_name, column_label, unit,
    value_text, value_number, value_date, value_timestamp
)
VALUES (
    %(run_date)s, %(batch)s, %(question_id)s, %(marker)s, %(row_number)s, %(column_number)s, %(column_name)s,
    %(column_label)s, %(unit)s, %(value_text)s, %(value_number)s, %(value_date)s, %(value_timestamp)s
);
