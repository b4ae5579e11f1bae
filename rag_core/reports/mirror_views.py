"""Views over the copied result tables, for warehouses whose readers want the latest answers and not the star. Pure."""

from __future__ import annotations

import sqlglot
from sqlglot import exp

# In PostgreSQL's words; sqlglot writes them in the warehouse's. `{schema}` is ours, never a reader's.
_VIEWS = {
    "answer_latest": """
SELECT
    a.batch, a.question_id, a.question, a.version, a.run_date, a.status, a.answer, a.headline_number, a.headline_text,
    a.headline_unit, a.explanation, a.strategy, a.query_type, a.supported, a.citations, a.answered_at, a.run_id,
    n.last_run_date, (a.run_date < n.last_run_date) AS stale
FROM (
    SELECT f.*, ROW_NUMBER() OVER (PARTITION BY f.batch, f.question_id ORDER BY f.run_date DESC) AS place
    FROM {schema}.fact_answer AS f
    WHERE f.state = 'published'
) AS a
INNER JOIN (SELECT batch, MAX(run_date) AS last_run_date FROM {schema}.dim_run GROUP BY batch) AS n
    ON a.batch = n.batch
WHERE a.place = 1
""",
    "answer_history": """
SELECT
    a.batch, b.title AS batch_title, a.question_id, q.title AS question_title, a.question, a.version, a.run_date,
    a.state, a.status,
    CASE WHEN a.state = 'published' THEN a.answer END AS answer,
    CASE WHEN a.state = 'published' THEN a.headline_number END AS headline_number,
    CASE WHEN a.state = 'published' THEN a.headline_text END AS headline_text,
    CASE WHEN a.state = 'published' THEN a.headline_unit END AS headline_unit,
    a.reason, a.strategy, a.query_type, a.model_calls, a.cost_usd, a.milliseconds, a.answered_at, a.run_id
FROM {schema}.fact_answer AS a
INNER JOIN {schema}.dim_batch AS b ON a.batch = b.batch
INNER JOIN {schema}.dim_question AS q
    ON a.batch = q.batch AND a.question_id = q.question_id AND a.version = q.version
""",
    "answer_cells": """
SELECT
    c.batch, c.question_id, c.run_date, c.marker, c.row_number, c.column_number, c.column_name, c.column_label, c.unit,
    c.value_text, c.value_number, c.value_date, c.value_timestamp, c.value_boolean
FROM {schema}.fact_answer_cell AS c
INNER JOIN {schema}.fact_answer AS a
    ON c.run_date = a.run_date AND c.batch = a.batch AND c.question_id = a.question_id
WHERE a.state = 'published'
""",
    "validation_failures": """
SELECT v.batch, v.question_id, v.run_date, v.check_id, v.severity, v.verdict, v.observed, v.threshold, v.message
FROM {schema}.fact_validation AS v
WHERE v.verdict IN ('fail', 'error')
""",
    "run_summary": """
SELECT
    r.batch, b.title AS batch_title, b.owner, r.run_date, r.started_at, r.finished_at, r.questions, r.published,
    r.quarantined, r.failed, r.needs_model, r.model_calls, r.prompt_tokens, r.completion_tokens, r.cost_usd, r.run_id
FROM {schema}.dim_run AS r
INNER JOIN {schema}.dim_batch AS b ON r.batch = b.batch
""",
    "cost_by_day": """
SELECT
    r.run_date, r.batch, COUNT(*) AS runs, SUM(r.questions) AS questions, SUM(r.model_calls) AS model_calls,
    SUM(r.prompt_tokens) AS prompt_tokens, SUM(r.completion_tokens) AS completion_tokens, SUM(r.cost_usd) AS cost_usd
FROM {schema}.dim_run AS r
GROUP BY r.run_date, r.batch
""",
}


def view_statements(schema: str, dialect: str) -> list[str]:
    """CREATE OR REPLACE VIEW statements in a dialect; each names its tables with the schema."""
    found = []
    for name, text in _VIEWS.items():
        query = sqlglot.parse_one(text.format(schema=schema), read="postgres")
        view = exp.Table(this=exp.to_identifier(name), db=exp.to_identifier(schema))
        found.append(exp.Create(this=view, kind="VIEW", replace=True, expression=query).sql(dialect))
    return found
