-- What waits for a person, in one look.
SELECT
    (
        SELECT count(*) FROM reports.fact_answer
        WHERE state = 'quarantined' AND review IS NULL AND run_date > %(since)s
    ) AS held_answers,
    (
        SELECT count(*) FROM nightshift.drift_event
        WHERE state = 'open'
    ) AS open_events,
    (
        SELECT count(*) FROM nightshift.plan
        WHERE state IN ('stale', 'broken')
    ) AS broken_plans,
    (
        SELECT count(*) FROM nightshift.plan
        WHERE state = 'draft'
    ) AS draft_plans,
    (
        SELECT count(*) FROM nightshift.document
        WHERE state <> 'ok'
    ) AS failed_documents;
