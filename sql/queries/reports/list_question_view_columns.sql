WITH mine AS (
    SELECT view_name FROM nightshift.question_view
    WHERE batch = %(batch)s
)

SELECT c.view_name, c.column_name, c.source_name, c.kind, c.description
FROM nightshift.question_view_column AS c
INNER JOIN mine AS m ON c.view_name = m.view_name
ORDER BY c.view_name, c.position;
