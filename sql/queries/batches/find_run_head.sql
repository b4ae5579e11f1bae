SELECT
    r.run_id, r.batch, r.run_date, r.publish, r.state, r.started_at, r.finished_at, r.outcome, r.definition,
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
FROM nightshift.batch_run AS r
WHERE r.run_id = %(run_id)s;
