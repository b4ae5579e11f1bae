-- BI tools show these to whoever builds a chart.
COMMENT ON VIEW reports.answer_cells IS
'The cells of published results, one row a cell';
COMMENT ON COLUMN reports.answer_cells.batch IS 'Name of the batch, the stem of its file';
COMMENT ON COLUMN reports.answer_cells.question_id IS 'Id of the question within its batch';
COMMENT ON COLUMN reports.answer_cells.run_date IS 'The date that relative times of the question refer to';
COMMENT ON COLUMN reports.answer_cells.marker IS 'Marker of the result or passage, as the answer cites it';
COMMENT ON COLUMN reports.answer_cells.row_number IS 'Row of the result, from 1';
COMMENT ON COLUMN reports.answer_cells.column_number IS 'Column of the result, from 1';
COMMENT ON COLUMN reports.answer_cells.column_name IS 'Name of the result column';
COMMENT ON COLUMN reports.answer_cells.column_label IS 'Name of the column for people';
COMMENT ON COLUMN reports.answer_cells.unit IS 'Unit of the column, such as EUR or %';
COMMENT ON COLUMN reports.answer_cells.value_text IS 'The value as text, whatever its type';
COMMENT ON COLUMN reports.answer_cells.value_number IS 'The value where it is a finite number';
COMMENT ON COLUMN reports.answer_cells.value_date IS 'The value where it is a date';
COMMENT ON COLUMN reports.answer_cells.value_timestamp IS 'The value where it is a moment';
COMMENT ON COLUMN reports.answer_cells.value_boolean IS 'The value where it is true or false';

COMMENT ON VIEW reports.answer_evidence IS
'The statements and passages that published answers cite';
COMMENT ON COLUMN reports.answer_evidence.batch IS 'Name of the batch, the stem of its file';
COMMENT ON COLUMN reports.answer_evidence.question_id IS 'Id of the question within its batch';
COMMENT ON COLUMN reports.answer_evidence.run_date IS 'The date that relative times of the question refer to';
COMMENT ON COLUMN reports.answer_evidence.marker IS 'Marker of the result or passage, as the answer cites it';
COMMENT ON COLUMN reports.answer_evidence.kind IS 'sql or document';
COMMENT ON COLUMN reports.answer_evidence.reference IS 'The statement, or the path of the document with its heading';
COMMENT ON COLUMN reports.answer_evidence.title IS 'Title of the document, or the task of the statement';
COMMENT ON COLUMN reports.answer_evidence.excerpt IS 'The quoted passage, or the first rows';
COMMENT ON COLUMN reports.answer_evidence.page IS 'Page of the document, where it has pages';
COMMENT ON COLUMN reports.answer_evidence.sql_text IS 'The statement that was run';
COMMENT ON COLUMN reports.answer_evidence.row_count IS 'Rows of the answer''s first result';
COMMENT ON COLUMN reports.answer_evidence.truncated_by IS
'The limit that cut the result off: rows or bytes; NULL where it is whole';
COMMENT ON COLUMN reports.answer_evidence.document_id IS 'Id of the document in the index';

COMMENT ON VIEW reports.answer_history IS
'Every question of every run; answers that were kept back are shown without their values';
COMMENT ON COLUMN reports.answer_history.batch IS 'Name of the batch, the stem of its file';
COMMENT ON COLUMN reports.answer_history.batch_title IS 'Title of the batch';
COMMENT ON COLUMN reports.answer_history.question_id IS 'Id of the question within its batch';
COMMENT ON COLUMN reports.answer_history.question_title IS 'Short title of the question';
COMMENT ON COLUMN reports.answer_history.question IS 'The question as it was asked';
COMMENT ON COLUMN reports.answer_history.version IS 'Version of the question; a changed text is a new version';
COMMENT ON COLUMN reports.answer_history.run_date IS 'The date that relative times of the question refer to';
COMMENT ON COLUMN reports.answer_history.state IS 'published, quarantined, failed or needs_model';
COMMENT ON COLUMN reports.answer_history.status IS
'What the core said: answered, partial, no_evidence, needs_model, refused, needs_clarification or failed';
COMMENT ON COLUMN reports.answer_history.answer IS 'The answer as Markdown with citation markers such as [S1] and [D1]';
COMMENT ON COLUMN reports.answer_history.headline_number IS 'The single value of the answer where it is a number';
COMMENT ON COLUMN reports.answer_history.headline_text IS 'The single value of the answer as text';
COMMENT ON COLUMN reports.answer_history.headline_unit IS 'Unit of the headline value, such as EUR or %';
COMMENT ON COLUMN reports.answer_history.row_count IS 'Rows of the answer''s first result';
COMMENT ON COLUMN reports.answer_history.explanation IS 'How the answer came about, in plain words';
COMMENT ON COLUMN reports.answer_history.reason IS
'Why the answer was kept back or failed; empty where it was published';
COMMENT ON COLUMN reports.answer_history.strategy IS
'How it was planned: replay, metric, verified, model, decomposed or none';
COMMENT ON COLUMN reports.answer_history.query_type IS 'What was asked: sql, documents, both or none';
COMMENT ON COLUMN reports.answer_history.supported IS 'Whether every claim is supported by its evidence';
COMMENT ON COLUMN reports.answer_history.relevance IS 'Share of the question that the answer deals with, 0 to 1';
COMMENT ON COLUMN reports.answer_history.citation_accuracy IS 'Share of the claims whose citation carries them, 0 to 1';
COMMENT ON COLUMN reports.answer_history.citations IS 'Number of citations';
COMMENT ON COLUMN reports.answer_history.model_calls IS 'Calls of chat models';
COMMENT ON COLUMN reports.answer_history.prompt_tokens IS 'Tokens sent to chat models';
COMMENT ON COLUMN reports.answer_history.completion_tokens IS 'Tokens that chat models wrote';
COMMENT ON COLUMN reports.answer_history.cost_usd IS 'Cost of the chat models in USD; NULL where no price is set';
COMMENT ON COLUMN reports.answer_history.milliseconds IS 'Time spent on the question, in milliseconds';
COMMENT ON COLUMN reports.answer_history.answered_at IS 'When the run was finished';
COMMENT ON COLUMN reports.answer_history.run_id IS 'The run that the row comes from';
COMMENT ON COLUMN reports.answer_history.review IS 'released or rejected where a person decided, else NULL';
COMMENT ON COLUMN reports.answer_history.reviewed_by IS 'Who decided';
COMMENT ON COLUMN reports.answer_history.reviewed_at IS 'When it was decided';
COMMENT ON COLUMN reports.answer_history.review_note IS 'Why it was decided so';

COMMENT ON VIEW reports.answer_latest IS
'The last published answer to each standing question; stale where the last run did not publish one';
COMMENT ON COLUMN reports.answer_latest.batch IS 'Name of the batch, the stem of its file';
COMMENT ON COLUMN reports.answer_latest.batch_title IS 'Title of the batch';
COMMENT ON COLUMN reports.answer_latest.question_id IS 'Id of the question within its batch';
COMMENT ON COLUMN reports.answer_latest.question_title IS 'Short title of the question';
COMMENT ON COLUMN reports.answer_latest.question IS 'The question as it was asked';
COMMENT ON COLUMN reports.answer_latest.version IS 'Version of the question; a changed text is a new version';
COMMENT ON COLUMN reports.answer_latest.run_date IS 'The date that relative times of the question refer to';
COMMENT ON COLUMN reports.answer_latest.status IS
'What the core said: answered, partial, no_evidence, needs_model, refused, needs_clarification or failed';
COMMENT ON COLUMN reports.answer_latest.answer IS 'The answer as Markdown with citation markers such as [S1] and [D1]';
COMMENT ON COLUMN reports.answer_latest.headline_number IS 'The single value of the answer where it is a number';
COMMENT ON COLUMN reports.answer_latest.headline_text IS 'The single value of the answer as text';
COMMENT ON COLUMN reports.answer_latest.headline_unit IS 'Unit of the headline value, such as EUR or %';
COMMENT ON COLUMN reports.answer_latest.explanation IS 'How the answer came about, in plain words';
COMMENT ON COLUMN reports.answer_latest.strategy IS
'How it was planned: replay, metric, verified, model, decomposed or none';
COMMENT ON COLUMN reports.answer_latest.query_type IS 'What was asked: sql, documents, both or none';
COMMENT ON COLUMN reports.answer_latest.supported IS 'Whether every claim is supported by its evidence';
COMMENT ON COLUMN reports.answer_latest.citations IS 'Number of citations';
COMMENT ON COLUMN reports.answer_latest.answered_at IS 'When the run was finished';
COMMENT ON COLUMN reports.answer_latest.run_id IS 'The run that the row comes from';
COMMENT ON COLUMN reports.answer_latest.last_run_date IS 'Run date of the last run of the batch';
COMMENT ON COLUMN reports.answer_latest.stale IS 'True where a newer run of the batch did not publish this question';
COMMENT ON COLUMN reports.answer_latest.stale_reason IS
'What became of the question in the last run, where the answer is stale';

COMMENT ON VIEW reports.cost_by_day IS
'What the chat models cost by run date and batch';
COMMENT ON COLUMN reports.cost_by_day.run_date IS 'The date that relative times of the question refer to';
COMMENT ON COLUMN reports.cost_by_day.batch IS 'Name of the batch, the stem of its file';
COMMENT ON COLUMN reports.cost_by_day.runs IS 'Number of runs';
COMMENT ON COLUMN reports.cost_by_day.questions IS 'Number of questions asked';
COMMENT ON COLUMN reports.cost_by_day.model_calls IS 'Calls of chat models';
COMMENT ON COLUMN reports.cost_by_day.prompt_tokens IS 'Tokens sent to chat models';
COMMENT ON COLUMN reports.cost_by_day.completion_tokens IS 'Tokens that chat models wrote';
COMMENT ON COLUMN reports.cost_by_day.cost_usd IS 'Cost of the chat models in USD; NULL where no price is set';

COMMENT ON VIEW reports.run_summary IS
'One row a batch and run date: counts, cost and the report''s path';
COMMENT ON COLUMN reports.run_summary.batch IS 'Name of the batch, the stem of its file';
COMMENT ON COLUMN reports.run_summary.batch_title IS 'Title of the batch';
COMMENT ON COLUMN reports.run_summary.owner IS 'Who answers for the batch';
COMMENT ON COLUMN reports.run_summary.run_date IS 'The date that relative times of the question refer to';
COMMENT ON COLUMN reports.run_summary.started_at IS 'When the run started';
COMMENT ON COLUMN reports.run_summary.finished_at IS 'When the run finished';
COMMENT ON COLUMN reports.run_summary.questions IS 'Number of questions';
COMMENT ON COLUMN reports.run_summary.published IS 'Number of answers published';
COMMENT ON COLUMN reports.run_summary.quarantined IS 'Number of answers kept back by checks';
COMMENT ON COLUMN reports.run_summary.failed IS 'Number of questions without an answer';
COMMENT ON COLUMN reports.run_summary.needs_model IS 'Number of questions that need a chat model';
COMMENT ON COLUMN reports.run_summary.model_calls IS 'Calls of chat models';
COMMENT ON COLUMN reports.run_summary.prompt_tokens IS 'Tokens sent to chat models';
COMMENT ON COLUMN reports.run_summary.completion_tokens IS 'Tokens that chat models wrote';
COMMENT ON COLUMN reports.run_summary.cost_usd IS 'Cost of the chat models in USD; NULL where no price is set';
COMMENT ON COLUMN reports.run_summary.report_path IS 'Where the HTML report was written';
COMMENT ON COLUMN reports.run_summary.run_id IS 'The run that the row comes from';
COMMENT ON COLUMN reports.run_summary.seconds IS 'Time from start to finish in seconds, with waiting';

COMMENT ON VIEW reports.sql_executions IS
'The statements that were run, with rows and time';
COMMENT ON COLUMN reports.sql_executions.batch IS 'Name of the batch, the stem of its file';
COMMENT ON COLUMN reports.sql_executions.question_id IS 'Id of the question within its batch';
COMMENT ON COLUMN reports.sql_executions.run_date IS 'The date that relative times of the question refer to';
COMMENT ON COLUMN reports.sql_executions.marker IS 'Marker of the result or passage, as the answer cites it';
COMMENT ON COLUMN reports.sql_executions.task IS 'What the statement was to find out';
COMMENT ON COLUMN reports.sql_executions.strategy IS
'How it was planned: replay, metric, verified, model, decomposed or none';
COMMENT ON COLUMN reports.sql_executions.sql_text IS 'The statement that was run';
COMMENT ON COLUMN reports.sql_executions.tables IS 'Tables that the statement reads';
COMMENT ON COLUMN reports.sql_executions.row_count IS 'Rows of the answer''s first result';
COMMENT ON COLUMN reports.sql_executions.truncated_by IS
'The limit that cut the result off: rows or bytes; NULL where it is whole';
COMMENT ON COLUMN reports.sql_executions.confidence IS 'How far the statement is trusted, 0 to 1';
COMMENT ON COLUMN reports.sql_executions.seconds IS 'Time in seconds';

COMMENT ON VIEW reports.validation_failures IS
'Checks that failed or could not be made';
COMMENT ON COLUMN reports.validation_failures.batch IS 'Name of the batch, the stem of its file';
COMMENT ON COLUMN reports.validation_failures.question_id IS 'Id of the question within its batch';
COMMENT ON COLUMN reports.validation_failures.question IS 'The question as it was asked';
COMMENT ON COLUMN reports.validation_failures.run_date IS 'The date that relative times of the question refer to';
COMMENT ON COLUMN reports.validation_failures.check_id IS 'Id of the check within the question';
COMMENT ON COLUMN reports.validation_failures.severity IS
'critical keeps the answer back; warning and info are only told';
COMMENT ON COLUMN reports.validation_failures.verdict IS 'pass, fail, error (the check itself broke) or not_judged';
COMMENT ON COLUMN reports.validation_failures.observed IS 'What was observed';
COMMENT ON COLUMN reports.validation_failures.threshold IS 'What is allowed';
COMMENT ON COLUMN reports.validation_failures.message IS 'More about what was observed';
COMMENT ON COLUMN reports.validation_failures.state IS 'published, quarantined, failed or needs_model';
COMMENT ON COLUMN reports.validation_failures.description IS 'What is checked, in plain words';

COMMENT ON VIEW reports.validation_results IS
'The verdict of every check';
COMMENT ON COLUMN reports.validation_results.batch IS 'Name of the batch, the stem of its file';
COMMENT ON COLUMN reports.validation_results.question_id IS 'Id of the question within its batch';
COMMENT ON COLUMN reports.validation_results.question IS 'The question as it was asked';
COMMENT ON COLUMN reports.validation_results.run_date IS 'The date that relative times of the question refer to';
COMMENT ON COLUMN reports.validation_results.check_id IS 'Id of the check within the question';
COMMENT ON COLUMN reports.validation_results.description IS 'What is checked, in plain words';
COMMENT ON COLUMN reports.validation_results.severity IS
'critical keeps the answer back; warning and info are only told';
COMMENT ON COLUMN reports.validation_results.verdict IS 'pass, fail, error (the check itself broke) or not_judged';
COMMENT ON COLUMN reports.validation_results.observed IS 'What was observed';
COMMENT ON COLUMN reports.validation_results.threshold IS 'What is allowed';
COMMENT ON COLUMN reports.validation_results.message IS 'More about what was observed';
COMMENT ON COLUMN reports.validation_results.state IS 'published, quarantined, failed or needs_model';
