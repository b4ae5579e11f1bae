INSERT INTO reports.fact_evidence (
    run_date, batch, question_id, marker, kind, reference, title, excerpt, document_id, page, sql_text,
    row_count, truncated_by
)
VALUES (
    %(run_date)s, %(batch)s, %(question_id)s, %(marker)s, %(kind)s, %(reference)s, %(title)s, %(excerpt)s,
    %(document_id)s, %(page)s, %(sql_text)s, %(row_count)s, %(truncated_by)s
);
