COPY reports.fact_answer_cell (
    run_date, batch, question_id, marker, result_number, row_number, column_number, column_name, column_label, unit,
    value_text, value_number, value_date, value_timestamp, value_boolean
) FROM STDIN;
