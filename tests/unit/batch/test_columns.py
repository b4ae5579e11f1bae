"""Columns that expectations name are looked up where they are known before anything runs."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from rag_core.batch.columns import ColumnForecast, KnownColumns, find_unknown_columns, selected_names
from rag_core.batch.reading import QuestionReader
from rag_core.datamodel.question import Batch, Expectation, Question
from rag_core.semantics.model import load_semantic_model
from rag_core.semantics.values import ValueIndex

RUN_DATE = date(2026, 7, 1)


@pytest.fixture(scope="module")
def forecast(repo_root: Path) -> ColumnForecast:
    """By the sample's semantic model alone: no store, no warehouse."""
    model = load_semantic_model(repo_root / "config" / "semantic_model.yaml")
    return ColumnForecast(QuestionReader(model, ValueIndex(), RUN_DATE, None))


def test_a_metric_says_its_columns(forecast: ColumnForecast) -> None:
    found = forecast.of(Question(question_id="a", text="What was {figure} by region {when}?", parameters={
        "figure": "revenue", "when": "last quarter"
    }))  # fmt: skip
    assert found == KnownColumns(names=("region", "revenue"), source="the metric revenue")


@pytest.mark.parametrize("text", ["Who is on call tonight?", "What was the frobnication of Q?", "Which policy holds?"])
def test_what_is_not_known_beforehand_is_not_guessed(forecast: ColumnForecast, text: str) -> None:
    assert forecast.of(Question(question_id="a", text=text)) is None


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT a, sum(b) AS total FROM t GROUP BY a", ("a", "total")),
        ("WITH x AS (SELECT 1 AS one) SELECT one FROM x", ("one",)),
        ("SELECT a FROM t UNION ALL SELECT b FROM u", ("a",)),
        ("SELECT count(*) AS n FROM t", ("n",)),
        ("SELECT * FROM t", ()),
        ("SELECT t.*, 1 AS one FROM t", ()),
        ("SELECT count(*) FROM t", ()),
        ("SELEC nothing", ()),
        ("DELETE FROM t", ()),
    ],
)
def test_names_of_a_statement(sql: str, names: tuple[str, ...]) -> None:
    assert selected_names(sql, "postgres") == names


def test_every_unknown_column_is_named_with_those_there_are() -> None:
    known = {
        "a": KnownColumns(names=("region", "revenue"), source="the metric revenue"),
        "b": KnownColumns(names=("orders",), source="the kept plan p1"),
    }
    questions = (
        Question(
            question_id="a",
            text="What?",
            headline="turnover",
            expectations=(
                Expectation(kind="bounds", column="revenu", min=0),
                Expectation(kind="not_null", column="region"),
                Expectation(kind="agrees", column="revenue", question="b"),
                Expectation(kind="agrees", column="revenue", question="b", other_column="orders"),
            ),
        ),
        Question(question_id="b", text="What?"),
        Question(question_id="c", text="Who?", expectations=(Expectation(kind="unique", column="anything"),)),
    )
    found = list(
        find_unknown_columns(
            Batch(batch="x", title="X", owner="o", questions=questions), lambda q: known.get(q.question_id)
        )
    )
    assert found == [
        "question a: the expectation bounds names the column revenu (did you mean revenue?): "
        "by the metric revenue there are region, revenue",
        "question a: the expectation agrees on b names the column revenue: by the kept plan p1 there are orders",
        "question a: the headline names the column turnover: by the metric revenue there are region, revenue",
    ]
