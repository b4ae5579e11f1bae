CREATE OR REPLACE VIEW {view} AS
SELECT a.run_date, a.version AS question_version, c.row_number, a.answer AS answer_text{columns}
FROM (
    SELECT run_date, batch, question_id, version, answer
    FROM reports.fact_answer
    WHERE batch = {batch} AND question_id = {question_id} AND state = 'published'
) AS a
LEFT JOIN reports.fact_answer_cell AS c
    ON a.run_date = c.run_date AND a.batch = c.batch AND a.question_id = c.question_id AND c.result_number = 1
GROUP BY a.run_date, a.version, a.answer, c.row_number;
