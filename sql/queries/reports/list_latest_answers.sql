SELECT batch_title, question, status, answer
FROM reports.answer_latest
ORDER BY batch, question_id;
