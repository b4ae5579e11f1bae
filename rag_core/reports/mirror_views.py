"""Views over the copied result tables, for warehouses whose readers want the latest answers and not the star. Pure."""

from __future__ import annotations

import sqlglot
from sqlglot import exp

from rag_core.connectors.sql_files import statement

# Each is in `sql/queries/mirror/select_<view>.sql` in PostgreSQL's words; sqlglot writes them in the warehouse's.
VIEWS = ("answer_latest", "answer_history", "answer_cells", "validation_failures", "run_summary", "cost_by_day")


def view_statements(schema: str, dialect: str) -> list[str]:
    """CREATE OR REPLACE VIEW statements in a dialect; each names its tables with the schema."""
    found = []
    for name in VIEWS:
        query = sqlglot.parse_one(statement(f"mirror/select_{name}").format(schema=schema), read="postgres")
        view = exp.Table(this=exp.to_identifier(name), db=exp.to_identifier(schema))
        found.append(exp.Create(this=view, kind="VIEW", replace=True, expression=query).sql(dialect))
    return found
