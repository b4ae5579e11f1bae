INSERT INTO reports.fact_review (batch, question_id, run_date, fingerprint, decision, reviewed_by, note)
VALUES (%(batch)s, %(question_id)s, %(run_date)s, %(fingerprint)s, %(decision)s, %(reviewed_by)s, %(note)s)
RETURNING reviewed_at;
