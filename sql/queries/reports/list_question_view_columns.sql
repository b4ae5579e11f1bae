SELECT v.view_name, c.column_name, c.source_name, c.kind, c.description
FROM nightshift.question_view AS v
INNER JOIN nightshift.question_view_column AS c ON v.view_name = c.view_name
WHERE v.batch = %(batch)s
ORDER BY v.view_name, c.position;
