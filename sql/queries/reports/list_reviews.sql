SELECT DISTINCT ON (question_id, fingerprint) question_id, fingerprint, decision, reviewed_by, reviewed_at, note
FROM reports.fact_review
WHERE batch = %(batch)s AND run_date = %(run_date)s
ORDER BY question_id ASC, fingerprint ASC, review_id DESC;
