INSERT INTO reports.dim_check (batch, question_id, check_id, severity, description)
VALUES (%(batch)s, %(question_id)s, %(check_id)s, %(severity)s, %(description)s)
ON CONFLICT (batch, question_id, check_id) DO UPDATE SET
    severity = excluded.severity, description = excluded.description;
