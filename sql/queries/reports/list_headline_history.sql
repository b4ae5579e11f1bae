SELECT question_id, run_date, headline_number, headline_text, headline_unit
FROM (
    SELECT
        question_id, run_date, headline_number, headline_text, headline_unit,
        row_number() OVER (PARTITION BY question_id ORDER BY run_date DESC) AS recency
    FROM reports.fact_answer
    WHERE batch = %(batch)s AND run_date < %(before)s AND state = 'published'
) AS recent
WHERE recency <= %(runs)s AND headline_text IS NOT NULL
ORDER BY question_id, run_date;
