-- A question that documents alone answer is planned as `documents`: the comments that BI tools show name it too.
COMMENT ON COLUMN reports.answer_history.strategy IS
'How it was planned: replay, metric, verified, documents, model, decomposed or none';
COMMENT ON COLUMN reports.answer_latest.strategy IS
'How it was planned: replay, metric, verified, documents, model, decomposed or none';
COMMENT ON COLUMN reports.sql_executions.strategy IS
'How it was planned: replay, metric, verified, documents, model, decomposed or none';
