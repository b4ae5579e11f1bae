-- The definition is a large value: it is read for the runs that are shown, not for those that are sorted.
WITH newest AS (
    SELECT run_id
    FROM nightshift.batch_run
    WHERE (%(batch)s::text IS NULL OR batch = %(batch)s) AND (%(run_date)s::date IS NULL OR run_date = %(run_date)s)
    ORDER BY started_at DESC
    LIMIT %(run_count)s
)

SELECT
    r.run_id, r.batch, r.run_date, r.publish, r.state, r.started_at, r.finished_at, r.outcome,
    r.definition ->> 'title' AS title,
    r.definition ->> 'owner' AS owner,
    jsonb_array_length(r.definition -> 'questions') AS questions,
    (
        SELECT count(*) FROM nightshift.staged_answer AS s
        WHERE s.run_id = r.run_id
    ) AS answered,
    exists(
        SELECT 1 FROM reports.dim_run AS d
        WHERE d.run_id = r.run_id
    ) AS stands,
    r.definition #>> '{questions,0,text}' AS first_question,
    r.definition #>> '{questions,0,question_id}' AS first_question_id
FROM newest
INNER JOIN nightshift.batch_run AS r ON newest.run_id = r.run_id
ORDER BY r.started_at DESC;
