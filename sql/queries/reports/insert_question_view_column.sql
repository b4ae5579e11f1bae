INSERT INTO nightshift.question_view_column (
    view_name, position, column_name, source_name, kind, description
)
VALUES (%(view_name)s, %(position)s, %(column_name)s, %(source_name)s, %(kind)s, %(description)s);
