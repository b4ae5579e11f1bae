"""A batch from start to published rows: repeated, at once, cut off, and with answers that must not be published."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest

from rag_core.datamodel.answer import Answer, Usage
from rag_core.datamodel.question import Budget, Expectation, Question
from rag_core.errors import ConfigurationError
from tests.integration.batch.conftest import MakeRunner
from tests.integration.batch.scripted import (
    REVENUE,
    RUN_DATE,
    ScriptedOrchestrator,
    ask_about,
    make_batch,
    passage,
    published_rows,
    result_evidence,
    scripted_answer,
)

pytestmark = pytest.mark.integration


def test_running_twice_for_one_date_leaves_the_same_rows(
    make_runner: MakeRunner, connection: psycopg.Connection
) -> None:
    runner = make_runner(
        ScriptedOrchestrator(
            {
                "a": scripted_answer(REVENUE, headline_value=Decimal("5.10"), headline_unit="EUR"),
                "b": scripted_answer(documents=[passage()]),
                "c": scripted_answer(status="needs_model", text="This needs a chat model."),
            }
        )
    )
    batch = make_batch("twice", ask_about("a", "b", "c"))
    first = runner.run(batch, RUN_DATE)
    rows = published_rows(connection, "twice")
    second = runner.run(batch, RUN_DATE)
    assert first.run_id != second.run_id
    assert published_rows(connection, "twice") == rows
    assert {table for table, found in rows.items() if not found} == {"fact_review"}
    assert (first.published, first.needs_model) == (2, 1)
    runner.finish(second.run_id)
    assert published_rows(connection, "twice") == rows


def test_two_runs_that_finish_at_once_leave_the_rows_of_one(
    make_runner: MakeRunner, connection: psycopg.Connection
) -> None:
    runner = make_runner(ScriptedOrchestrator({"a": scripted_answer(REVENUE), "b": scripted_answer(REVENUE)}))
    batch = make_batch("at_once", ask_about("a", "b"))
    runs = [runner.start(batch, RUN_DATE).run_id for _ in range(2)]
    for run_id in runs:
        runner.answer(run_id, ["a", "b"])
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(runner.finish, [*runs, *runs]))
    found = connection.execute(
        "SELECT run_id::text, count(*) FROM reports.fact_answer WHERE batch = 'at_once' GROUP BY run_id"
    ).fetchall()
    (run,) = connection.execute("SELECT run_id::text FROM reports.dim_run WHERE batch = 'at_once'").fetchall()
    assert found == [(run[0], 2)]
    assert run[0] in runs
    assert len(published_rows(connection, "at_once")["fact_answer_cell"]) == 8


def test_a_question_that_was_not_answered_is_a_failed_row(
    make_runner: MakeRunner, connection: psycopg.Connection
) -> None:
    runner = make_runner(ScriptedOrchestrator({"a": scripted_answer(REVENUE)}))
    run = runner.start(make_batch("half", ask_about("a", "b")), RUN_DATE)
    runner.answer(run.run_id, ["a"])
    outcome = runner.finish(run.run_id)
    assert (outcome.published, outcome.failed) == (1, 1)
    found = connection.execute(
        "SELECT question_id, state, reason FROM reports.fact_answer WHERE batch = 'half' ORDER BY question_id"
    ).fetchall()
    assert found == [
        ("a", "published", ""),
        ("b", "failed", "The run ended before this question was answered."),
    ]


@pytest.mark.parametrize(
    ("name", "kind", "cells", "reason"),
    [
        (
            "null",
            "numeric",
            [None] * 81 + [Decimal(1)] * 19,
            "at most 80% of a column is NULL (observed 0.81, allowed at most 0.8, column revenue)",
        ),
        ("empty", "numeric", [], "not so: S1: the result has rows (observed 0, allowed at least 1)"),
        (
            "nan",
            "numeric",
            [Decimal(1), Decimal("NaN")],
            "not so: S1: no number is NaN or infinite (observed 1, allowed at most 0",
        ),
        ("infinite", "double precision", [float("inf")], "no number is NaN or infinite (observed 1"),
        ("mistyped", "bigint", ["12", "13"], "revenue holds text instead of number"),
    ],
)
def test_a_bad_result_is_kept_back_and_the_last_good_one_stays(
    make_runner: MakeRunner,
    bi_connection: psycopg.Connection,
    name: str,
    kind: str,
    cells: list[Any],
    reason: str,
) -> None:
    good = scripted_answer(REVENUE, headline_value=Decimal("5.10"), headline_unit="EUR")
    bad = scripted_answer(result_evidence({"revenue": (kind, cells)}), headline_value=Decimal("9.99"))
    batch = make_batch(f"bad_{name}", ask_about("a"))
    make_runner(ScriptedOrchestrator({"a": good})).run(batch, date(2026, 6, 30))
    outcome = make_runner(ScriptedOrchestrator({"a": bad})).run(batch, RUN_DATE)
    assert outcome.quarantined == 1
    assert reason in outcome.questions[0].reason
    assert bi_connection.execute(
        "SELECT run_date, headline_number, stale, stale_reason, last_run_date FROM answer_latest WHERE batch = %s",
        (batch.batch,),
    ).fetchall() == [(date(2026, 6, 30), Decimal("5.10"), True, "quarantined", RUN_DATE)]
    assert bi_connection.execute(
        "SELECT answer, headline_number, state FROM answer_history WHERE batch = %s AND run_date = %s",
        (batch.batch, RUN_DATE),
    ).fetchall() == [(None, None, "quarantined")]
    assert bi_connection.execute(
        "SELECT DISTINCT run_date FROM answer_cells WHERE batch = %s", (batch.batch,)
    ).fetchall() == [(date(2026, 6, 30),)]
    assert outcome.report_path is not None
    report = Path(outcome.report_path).read_text(encoding="utf-8")
    assert "Kept back" in report
    assert "The last published answer is of 2026-06-30" in report


def test_just_eighty_percent_null_is_published(make_runner: MakeRunner) -> None:
    cells = [None] * 8 + [Decimal(1)] * 2
    answer = scripted_answer(result_evidence({"revenue": ("numeric", cells)}))
    outcome = make_runner(ScriptedOrchestrator({"a": answer})).run(make_batch("eighty", ask_about("a")), RUN_DATE)
    assert outcome.published == 1


def test_exact_values_reach_the_tables(make_runner: MakeRunner, bi_connection: psycopg.Connection) -> None:
    large, fine = 9007199254740993, Decimal("0.1000000000000000055511151231257827")
    answer = scripted_answer(
        result_evidence({"n": ("bigint", [large, None]), "x": ("numeric", [fine, Decimal(2**80)])}), headline_value=fine
    )
    make_runner(ScriptedOrchestrator({"a": answer})).run(make_batch("exact", ask_about("a")), RUN_DATE)
    rows = bi_connection.execute(
        "SELECT column_name, value_number, value_text FROM answer_cells WHERE batch = 'exact' ORDER BY 1, row_number"
    ).fetchall()
    assert rows == [
        ("n", Decimal(large), str(large)),
        ("n", None, None),
        ("x", fine, str(fine)),
        ("x", Decimal(2**80), str(2**80)),
    ]
    assert bi_connection.execute("SELECT headline_number FROM answer_latest WHERE batch = 'exact'").fetchone() == (
        fine,
    )


def test_a_changed_text_is_a_new_version_with_its_own_history(
    make_runner: MakeRunner, connection: psycopg.Connection
) -> None:
    expectation = Expectation(kind="change", min=-10, max=10)
    runner = make_runner(ScriptedOrchestrator({"a": scripted_answer(REVENUE, headline_value=Decimal(100))}))
    runner.run(make_batch("versions", [Question(question_id="a", text="One?")]), date(2026, 6, 29))
    runner = make_runner(ScriptedOrchestrator({"a": scripted_answer(REVENUE, headline_value=Decimal(150))}))
    question = Question(question_id="a", text="Two?", expectations=(expectation,))
    changed = runner.run(make_batch("versions", [question]), date(2026, 6, 30))
    assert changed.questions[0].checks[-1].verdict == "not_judged"
    assert changed.published == 1
    question = Question(question_id="a", text="One?", expectations=(expectation,))
    back = runner.run(make_batch("versions", [question]), RUN_DATE)
    assert back.questions[0].state == "quarantined"
    assert back.questions[0].checks[-1].observed == "50.00"
    found = connection.execute(
        "SELECT run_date, version FROM reports.fact_answer WHERE batch = 'versions' ORDER BY run_date"
    ).fetchall()
    assert [version for _, version in found] == [1, 2, 1]


def test_a_run_that_is_not_published_writes_only_its_report(
    make_runner: MakeRunner, connection: psycopg.Connection
) -> None:
    runner = make_runner(ScriptedOrchestrator({"a": scripted_answer(REVENUE)}))
    outcome = runner.run(make_batch("dry", ask_about("a")), RUN_DATE, publish=False)
    assert outcome.report_path is not None
    assert Path(outcome.report_path).name == f"2026-07-01-{outcome.run_id[:8]}.html"
    assert Path(outcome.report_path).with_suffix(".md").exists()
    assert not any(published_rows(connection, "dry").values())


def test_a_report_that_cannot_be_written_takes_the_rows_back(
    make_runner: MakeRunner, connection: psycopg.Connection, tmp_path: Path
) -> None:
    (tmp_path / "reports").write_text("a file where the folder should be", encoding="utf-8")
    runner = make_runner(ScriptedOrchestrator({"a": scripted_answer(REVENUE)}))
    with pytest.raises(ConfigurationError, match="cannot be written"):
        runner.run(make_batch("full_disk", ask_about("a")), RUN_DATE)
    assert not any(published_rows(connection, "full_disk").values())


def test_the_run_keeps_the_batch_as_it_was_when_it_started(make_runner: MakeRunner) -> None:
    runner = make_runner(ScriptedOrchestrator({"a": scripted_answer(REVENUE)}))
    run = runner.start(make_batch("kept", ask_about("a")), RUN_DATE)
    with pytest.raises(ConfigurationError, match="has no question b"):
        runner.answer(run.run_id, ["b"])
    with pytest.raises(ConfigurationError, match="there is no batch run"):
        runner.finish("00000000-0000-0000-0000-000000000000")


def test_zero_characters_and_strange_letters_survive(
    make_runner: MakeRunner, bi_connection: psycopg.Connection
) -> None:
    evidence = result_evidence({"weird \"col'; DROP TABLE x": ("text", ["a\x00b", "Ünïcödé 漢字 🌙"])})
    answer = scripted_answer(evidence, text="Zero \x00 and 🌙. [S1]")
    make_runner(ScriptedOrchestrator({"a": answer})).run(make_batch("letters", ask_about("a")), RUN_DATE)
    rows = bi_connection.execute(
        "SELECT value_text FROM answer_cells WHERE batch = 'letters' ORDER BY row_number"
    ).fetchall()
    assert rows == [("a\ufffdb",), ("Ünïcödé 漢字 🌙",)]


def test_a_question_after_the_budget_is_a_failed_row(make_runner: MakeRunner) -> None:
    dear = scripted_answer(REVENUE, usage=Usage(model_calls=2, cost_usd=0.5))
    orchestrator = ScriptedOrchestrator({"a": dear, "b": dear, "c": dear})
    batch = make_batch("budget", ask_about("a", "b", "c")).model_copy(update={"budget": Budget(cost_usd=0.9)})
    outcome = make_runner(orchestrator).run(batch, RUN_DATE)
    assert orchestrator.asked == ["a", "b"]
    assert [item.state for item in outcome.questions] == ["published", "published", "failed"]
    assert outcome.questions[2].reason == "The budget of the batch is used up: 1.0000 of 0.9 USD."
    assert outcome.usage.cost_usd == 1.0


def test_dates_of_the_text_are_those_of_the_run(make_runner: MakeRunner, bi_connection: psycopg.Connection) -> None:
    asked: dict[str, Any] = {}

    class Recording(ScriptedOrchestrator):
        def answer(self, question: str, **fields: Any) -> Answer:
            asked.update(fields["parameters"], text=question)
            return super().answer(question, **fields)

    runner = make_runner(Recording({"a": scripted_answer(REVENUE)}))
    question = Question(question_id="a", text="What of {last_month}?", parameters={"region": "DACH"})
    runner.run(make_batch("dates", [question]), RUN_DATE)
    assert (asked["text"], asked["last_month"], asked["region"]) == ("What of {last_month}?", "June 2026", "DACH")
    runner.run(make_batch("dates", [question]), date(2026, 8, 1))
    versions = bi_connection.execute("SELECT version FROM answer_history WHERE batch = 'dates'").fetchall()
    assert versions == [(1,), (1,)]


def test_the_headline_is_the_column_that_the_question_names(make_runner: MakeRunner) -> None:
    columns = {"region": ("text", ["DACH"]), "margin": ("numeric", [Decimal("27.4")]), "n": ("bigint", [7])}
    runner = make_runner(ScriptedOrchestrator({"a": scripted_answer(result_evidence(columns), headline_value=7)}))
    outcome = runner.run(make_batch("headline", ask_about("a", headline="margin")), RUN_DATE)
    assert outcome.questions[0].headline_value == Decimal("27.4")
    outcome = runner.run(make_batch("headline", ask_about("a", headline="absent")), RUN_DATE)
    assert outcome.questions[0].headline_value is None
