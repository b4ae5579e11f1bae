SELECT view_name, column_name, source_name, kind, description
FROM nightshift.question_view_column
WHERE view_name IN (SELECT v.view_name FROM nightshift.question_view AS v WHERE v.batch = %(batch)s)
ORDER BY view_name, position;
