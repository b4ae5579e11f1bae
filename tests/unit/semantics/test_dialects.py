"""Every form of a metric query, and each verified query, as text of every dialect."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest
import sqlglot
from sqlglot import exp

from rag_core.semantics.compile import compile_query
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.match import Match
from tests.unit.semantics.forms import FORMS

DIALECTS = ("postgres", "redshift", "snowflake", "bigquery", "duckdb")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("form", FORMS)
def test_each_form_parses_and_nothing_of_it_is_dropped(
    sample_model: SemanticModel, caplog: pytest.LogCaptureFixture, form: str, dialect: str
) -> None:
    with caplog.at_level(logging.WARNING, logger="sqlglot"):
        compiled = compile_query(FORMS[form], sample_model, dialect)
        trees = sqlglot.parse(compiled.sql, dialect=dialect, error_level=sqlglot.ErrorLevel.RAISE)
    assert caplog.messages == []  # sqlglot says there what a dialect cannot say
    assert len(trees) == 1
    assert isinstance(trees[0], exp.Select)
    assert [column.alias_or_name for column in trees[0].selects] == [meaning.name for meaning in compiled.meanings]
    assert not list(trees[0].find_all(exp.Command, exp.Placeholder))


def test_redshift_gets_the_frame_that_it_asks_for(sample_model: SemanticModel) -> None:
    sql = compile_query(FORMS["running total by group"], sample_model, "redshift").sql
    assert "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW" in sql


def test_bigquery_gets_its_own_intervals_and_windows(sample_model: SemanticModel) -> None:
    sql = compile_query(FORMS["year over year by month"], sample_model, "bigquery").sql
    assert "INTERVAL 12 MONTH" in sql
    windows = sqlglot.parse_one(compile_query(FORMS["top within a group"], sample_model, "bigquery").sql, "bigquery")
    assert all("NULLS" not in window.sql(dialect="bigquery") for window in windows.find_all(exp.Window))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_dialect_needs_qualify(sample_model: SemanticModel, dialect: str) -> None:
    sql = compile_query(FORMS["top within a group"], sample_model, dialect).sql
    assert "QUALIFY" not in sql.upper()
    assert "LIMIT" not in sql.upper()


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "question", ["What was the largest order last quarter?", "How many active customers have not ordered for a year?"]
)
def test_a_verified_query_speaks_every_dialect(
    match: Callable[[str], Match],
    sample_model: SemanticModel,
    caplog: pytest.LogCaptureFixture,
    question: str,
    dialect: str,
) -> None:
    verified = match(question).verified
    assert verified is not None
    with caplog.at_level(logging.WARNING, logger="sqlglot"):
        sql = verified.to_dialect(sample_model.dialect, dialect)
        trees = sqlglot.parse(sql, dialect=dialect, error_level=sqlglot.ErrorLevel.RAISE)
    assert caplog.messages == []
    assert len(trees) == 1
    assert trees[0] is not None
    assert [column.alias_or_name for column in trees[0].selects] == [meaning.name for meaning in verified.meanings]
