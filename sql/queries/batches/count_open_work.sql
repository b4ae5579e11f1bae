-- What waits for a person in the batches that may be read, in one look. Plans of questions that were asked once wait for
-- nobody.
WITH standing AS (
    SELECT question_id
    FROM reports.dim_question
    WHERE batch <> %(manual)s
    GROUP BY question_id
    HAVING bool_and(batch = any(%(batches)s))
)

SELECT
    (
        SELECT count(*) FROM reports.fact_answer
        WHERE
            state = 'quarantined' AND review IS NULL AND run_date > %(since)s
            AND batch = any(%(batches)s)
    ) AS held_answers,
    (
        SELECT count(*) FROM nightshift.drift_event
        WHERE state = 'open'
    ) AS open_events,
    (
        SELECT count(*) FROM nightshift.plan
        WHERE state IN ('stale', 'broken') AND question_id IN (SELECT standing.question_id FROM standing)
    ) AS broken_plans,
    (
        SELECT count(*) FROM nightshift.plan
        WHERE state = 'draft' AND question_id IN (SELECT standing.question_id FROM standing)
    ) AS draft_plans,
    (
        SELECT count(*) FROM nightshift.document
        WHERE state <> 'ok'
    ) AS failed_documents;
