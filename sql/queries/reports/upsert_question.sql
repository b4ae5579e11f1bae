-- A text that is already known keeps its version; a new one gets the next.
WITH known AS (
    SELECT version FROM reports.dim_question
    WHERE batch = %(batch)s AND question_id = %(question_id)s AND question = %(question)s
    ORDER BY version DESC
    LIMIT 1
),

added AS (
    INSERT INTO reports.dim_question (batch, question_id, version, title, question, tags, first_seen_on)
    SELECT
        %(batch)s, %(question_id)s,
        1 + coalesce((
            SELECT max(version) FROM reports.dim_question
            WHERE batch = %(batch)s AND question_id = %(question_id)s
        ), 0) AS version,
        %(title)s, %(question)s, %(tags)s, %(first_seen_on)s
    WHERE NOT EXISTS (SELECT 1 FROM known)
    RETURNING version
)

SELECT version FROM known
UNION ALL
SELECT version FROM added;
