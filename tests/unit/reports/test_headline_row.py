"""A headline that is the first of several values says of which row it is, wherever it is shown."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from rag_core.batch.headline import with_headline
from rag_core.datamodel.answer import Answer, Usage, Verdict
from rag_core.datamodel.evidence import ColumnMeaning, SqlEvidence
from rag_core.datamodel.question import Batch, Question
from rag_core.datamodel.report import QuestionOutcome
from rag_core.reports.bundle import AnsweredQuestion, RunBundle
from rag_core.reports.markdown import render_markdown
from rag_core.reports.pdf import _document
from rag_core.reports.render import question_view, render_html
from rag_core.reports.rows import headline_row
from tests.evidence import sql_evidence

MEANINGS = (
    ColumnMeaning(name="channel", label="Channel", role="dimension"),
    ColumnMeaning(name="orders", label="Orders", unit="orders", role="metric"),
)
COLUMNS = {"channel": "text", "orders": "bigint"}
SEVERAL = sql_evidence(COLUMNS, ("direct", 4209), ("partner", 310), ("web", 77), meanings=MEANINGS)


def _bundle(evidence: SqlEvidence, headline: str | None = "orders") -> RunBundle:
    question = Question(question_id="orders", text="How many orders by channel?", headline=headline)
    answer = Answer(
        question=question.text,
        question_id="orders",
        run_date=date(2026, 7, 1),
        status="answered",
        text="Orders by channel. [S1]",
        strategy="metric",
        query_type="sql",
        verdict=Verdict(supported=True),
        sql=(evidence,),
    )
    outcome = QuestionOutcome(
        question_id="orders", status="answered", strategy="metric", state="published", answer=answer.text
    )
    moment = datetime(2026, 7, 1, 3, tzinfo=UTC)
    return RunBundle(
        run_id="r",
        batch=Batch(batch="review", title="T", owner="o", questions=(question,)),
        run_date=date(2026, 7, 1),
        started_at=moment,
        finished_at=moment,
        published=True,
        items=(AnsweredQuestion(question=question, answer=with_headline(question, answer), outcome=outcome),),
        usage=Usage(),
    )


def test_the_row_of_a_headline_stands_beside_it_in_every_form() -> None:
    bundle = _bundle(SEVERAL)
    said = "direct, the first of 3 rows"
    assert question_view(bundle.items[0], (), draw=False)["headline_row"] == said
    page = render_html(bundle, {})
    # Once at a glance and once at the answer.
    assert page.count(f'<span class="change">{said}</span>') == 2
    assert f"4,209 orders – {said}" in render_markdown(bundle, {})
    (item,) = _document(bundle, {})["items"]
    assert item["glance"] == f"4,209 orders ({said})"
    assert item["change"] == said


def test_a_single_row_needs_no_label() -> None:
    bundle = _bundle(sql_evidence(COLUMNS, ("direct", 4209), meanings=MEANINGS))
    assert question_view(bundle.items[0], (), draw=False)["headline_row"] == ""
    assert "the first of" not in render_html(bundle, {})


@pytest.mark.parametrize(
    ("columns", "cells", "meanings", "said"),
    [
        # Nothing names the row: that it is one of several is still said.
        ({"orders": "bigint"}, [(4,), (5,)], (), "the first of 2 rows"),
        ({"who": "text", "orders": "bigint"}, [(None, 4), ("b", 5)], (), "the first of 2 rows"),
        # A number that nobody describes may be another figure: it names no row.
        ({"n": "bigint", "who": "text", "orders": "bigint"}, [(9, "a", 4), (8, "b", 5)], (), "a, the first of 2 rows"),
        ({"month": "date", "orders": "bigint"}, [(date(2026, 1, 1), 4)] * 2, (), "2026-01-01, the first of 2 rows"),
        ({"other": "bigint"}, [(4,), (5,)], (), ""),
        ({"orders": "bigint"}, [], (), ""),
    ],
)
def test_a_row_is_named_by_what_is_no_figure(
    columns: dict[str, str], cells: list[tuple[Any, ...]], meanings: tuple[ColumnMeaning, ...], said: str
) -> None:
    question = Question(question_id="orders", text="How many?", headline="orders")
    assert headline_row(question, (sql_evidence(columns, *cells, meanings=meanings),)) == said


def test_without_a_named_headline_no_row_is_named() -> None:
    assert headline_row(Question(question_id="orders", text="How many?"), (SEVERAL,)) == ""
