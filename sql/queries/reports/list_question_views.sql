SELECT batch, question_id, view_name FROM nightshift.question_view
ORDER BY view_name;
