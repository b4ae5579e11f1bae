-- Which batches ask a question: those that have published it, and the last run of each, published or not.
WITH last_runs AS (
    SELECT DISTINCT ON (batch)
        batch,
        definition
    FROM nightshift.batch_run
    WHERE batch <> %(manual)s
    ORDER BY batch ASC, started_at DESC
)

SELECT
    question_id,
    batch
FROM reports.dim_question
WHERE batch <> %(manual)s
UNION
SELECT
    asked.question ->> 'question_id' AS question_id,
    last_runs.batch
FROM last_runs
CROSS JOIN LATERAL jsonb_array_elements(last_runs.definition -> 'questions') AS asked (question);
