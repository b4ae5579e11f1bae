INSERT INTO nightshift.question_view (view_name, batch, question_id)
VALUES (%(view_name)s, %(batch)s, %(question_id)s);
