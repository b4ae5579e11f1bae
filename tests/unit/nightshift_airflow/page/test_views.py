"""Records as the templates read them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from nightshift_airflow.defaults import BatchFile, BrokenBatchFile
from nightshift_airflow.page.views import (
    batch_cards,
    describe_schedule,
    diff_lines,
    headline_of,
    hurt_names,
    question_badge,
    run_badge,
    run_counts,
    summary_of,
)
from rag_core.batch.records import RunHead, RunQuestion
from rag_core.datamodel.drift import Affected, Change
from rag_core.datamodel.question import Question


def _run(batch: str, **fields: Any) -> RunHead:
    values = {"title": batch.title(), "owner": "o", "run_date": date(2026, 7, 1), "publish": True, "state": "finished"}
    moment = datetime(2026, 7, 1, tzinfo=UTC)
    return RunHead.model_validate(
        {"run_id": "r", "batch": batch, "started_at": moment, "questions": 3, "answered": 3, **values, **fields}
    )


def _question(**fields: Any) -> RunQuestion:
    return RunQuestion(question=Question(question_id="a", text="How many?"), **fields)


def _file(name: str, schedule: str | None = None) -> BatchFile:
    return BatchFile(name, name.title(), "", schedule, "UTC", "ann", f"{name}.yaml")


def test_each_batch_has_one_card_with_its_newest_run() -> None:
    runs = [_run("old", run_id="1"), _run("old", run_id="2"), _run("gone", run_id="3"), _run("manual", run_id="4")]
    cards = {card.batch: card for card in batch_cards([_file("old", "0 2 * * *"), _file("new")], runs)}
    assert list(cards) == ["old", "new", "gone"]
    assert cards["old"].last is not None
    assert cards["old"].last.run_id == "1"
    assert cards["old"].schedule == "At 02:00, UTC"
    assert (cards["new"].last, cards["new"].schedule) == (None, "by hand")
    assert cards["gone"].schedule == "no file any more"


def test_a_broken_file_has_a_card_that_says_why_and_keeps_the_last_run() -> None:
    broken = [BrokenBatchFile(f"/b/{name}.yaml", f"{name}.yaml: schedule: bad") for name in ("ran", "new", "No Name")]
    cards = {card.batch: card for card in batch_cards([_file("good")], [_run("ran", run_id="1")], broken)}
    assert list(cards) == ["good", "ran", "new"]
    assert cards["good"].problem == ""
    assert (cards["ran"].title, cards["ran"].schedule) == ("Ran", "not scheduled")
    assert cards["ran"].last is not None
    assert cards["ran"].problem == "ran.yaml: schedule: bad"
    assert (cards["new"].title, cards["new"].last, cards["new"].problem) == ("new", None, "new.yaml: schedule: bad")


@pytest.mark.parametrize(
    ("cron", "words"),
    [("30 6 * * 1", "At 06:30, only on Monday, UTC"), ("@daily", "@daily, UTC"), ("no cron", "no cron, UTC")],
)
def test_a_schedule_is_said_in_words(cron: str, words: str) -> None:
    assert describe_schedule(cron, "UTC") == words


@pytest.mark.parametrize(
    ("fields", "badge"),
    [
        ({"state": "running", "answered": 1}, ("running", "Running, 1 of 3")),
        ({"state": "failed"}, ("failed", "Failed")),
        ({"outcome": {"failed": 1, "quarantined": 2}}, ("failed", "1 failed")),
        ({"outcome": {"failed": 0, "quarantined": 2}}, ("quarantined", "2 kept back")),
        ({"outcome": {"needs_model": 3}}, ("needs_model", "3 need a chat model")),
        ({"outcome": {"needs_model": 1}}, ("needs_model", "1 needs a chat model")),
        ({"outcome": {"published": 3}}, ("answered", "Done")),
    ],
)
def test_a_run_is_known_by_the_worst_of_it(fields: dict[str, Any], badge: tuple[str, str]) -> None:
    assert run_badge(_run("b", **fields)) == badge


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ({}, "3 of 3 questions answered"),
        ({"published": 3, "quarantined": 0, "failed": 0, "needs_model": 0}, "3 of 3 answers published"),
        (
            {"published": 0, "quarantined": 1, "failed": 1, "needs_model": 1},
            "0 of 3 answers published, 1 kept back, 1 failed, 1 needs a chat model",
        ),
        ({"published": 1, "needs_model": 2}, "1 of 3 answers published, 2 need a chat model"),
    ],
)
def test_a_run_says_all_that_came_of_it(outcome: dict[str, int], words: str) -> None:
    assert run_counts(_run("b", outcome=outcome)) == words


def test_a_question_is_known_by_what_became_of_it() -> None:
    assert question_badge(_question()) == ("running", "Not answered yet")
    assert question_badge(_question(status="partial", state="published")) == ("partial", "Partly answered")
    assert question_badge(_question(status="answered", state="quarantined")) == ("quarantined", "Kept back")
    assert question_badge(_question(status="refused")) == ("refused", "Refused")
    assert question_badge(_question(status="paused", state="failed")) == ("failed", "Paused")


def test_a_value_keeps_its_cents_and_is_not_shown_while_it_is_kept_back() -> None:
    values = {"headline_value": Decimal("16598517.80"), "headline_unit": "EUR"}
    assert headline_of(_question(status="answered", state="published", **values)) == "16,598,517.80 EUR"
    assert headline_of(_question(status="answered", state="quarantined", **values)) == ""
    whole = {"headline_value": Decimal(12), "headline_unit": ""}
    assert headline_of(_question(status="answered", state="published", **whole)) == "12"


def test_a_summary_is_the_first_paragraph_without_its_markers() -> None:
    assert summary_of(_question(state="published", answer="It rose [S1] a lot. [D12]\n\nMore.")) == "It rose a lot."
    assert summary_of(_question(state="quarantined", answer="Wrong", reason="too high")) == "Kept back: too high"


def test_lines_say_which_text_they_are_of() -> None:
    assert diff_lines("SELECT a\nFROM t", "SELECT b\nFROM t") == ["- SELECT a", "+ SELECT b", "  FROM t"]
    assert diff_lines("", "x") == ["+ x"]
    assert diff_lines("x", "x") == ["  x"]


def test_whom_a_change_hurts_is_named_once() -> None:
    affected = (
        Affected(kind="expectation", id="a:row_count", question_id="a"),
        Affected(kind="plan", plan_id="p1", id="p1", question_id="a"),
        Affected(kind="metric", metric="revenue", id="revenue"),
    )
    change = Change(
        change_id="c", kind="column_removed", object="s.t.c", severity="breaking", affected=affected, table="s.t"
    )
    assert hurt_names(change) == ["a", "revenue"]
