-- What was published says how an answer was judged; of a run that was not, only the staged answer is known.
WITH run AS (
    SELECT run_id, batch, run_date
    FROM nightshift.batch_run
    WHERE run_id = %(run_id)s
)

SELECT
    s.question_id,
    coalesce(f.status, s.answer ->> 'status') AS status,
    coalesce(f.answer, s.answer ->> 'text') AS answer,
    coalesce(f.reason, '') AS reason,
    f.state, f.headline_number, f.headline_text, f.headline_unit, f.review, f.reviewed_by,
    (
        SELECT count(*) FROM reports.fact_validation AS v
        WHERE
            v.run_date = f.run_date AND v.batch = f.batch AND v.question_id = f.question_id
            AND v.verdict IN ('fail', 'error')
    ) AS failed_checks
FROM run
INNER JOIN nightshift.staged_answer AS s ON run.run_id = s.run_id
LEFT JOIN reports.fact_answer AS f
    ON run.run_date = f.run_date AND run.batch = f.batch AND run.run_id = f.run_id AND s.question_id = f.question_id;
