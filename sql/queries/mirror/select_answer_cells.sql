SELECT
    c.batch, c.question_id, c.run_date, c.marker, c.row_number, c.column_number, c.column_name, c.column_label, c.unit,
    c.value_text, c.value_number, c.value_date, c.value_timestamp, c.value_boolean
FROM {schema}.fact_answer_cell AS c
INNER JOIN {schema}.fact_answer AS a
    ON c.run_date = a.run_date AND c.batch = a.batch AND c.question_id = a.question_id
WHERE a.state = 'published';
