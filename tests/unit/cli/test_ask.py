from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from rag_core.cli.ask import ask, check_question, render, to_contract
from rag_core.cli.output import console, to_json
from rag_core.errors import ConfigurationError
from tests.question_world import open_world

FIELDS = {
    "question", "status", "answer", "strategy", "query_type", "citations", "sql", "documents", "verdict", "explanation",
    "usage", "timings_ms", "plan_id", "run_id", "trace",
}  # fmt: skip


def test_json_has_the_contracts_fields(tmp_path: Path) -> None:
    answer = open_world(tmp_path).answer(
        "Why did the revenue of the Nordics fall in Q2 2026?", run_date=date(2026, 7, 1)
    )
    value = json.loads(json.dumps(to_json(to_contract(answer)), allow_nan=False))
    assert set(value) >= FIELDS
    assert {citation["kind"] for citation in value["citations"]} == {"sql", "document"}
    assert set(value["sql"][0]) >= {"text", "rows", "columns", "row_count", "truncated_by"}
    assert value["sql"][0]["rows"] == [["750.00", "2300.00", "-1550.00", value["sql"][0]["rows"][0][3]]]
    assert set(value["verdict"]) >= {"supported", "unsupported_claims", "relevance", "citation_accuracy"}
    assert set(value["usage"]) == {"model_calls", "prompt_tokens", "completion_tokens", "cost_usd"}
    assert set(value["trace"][0]) == {"node", "started_at", "ms", "detail"}


def test_people_see_the_answer_its_sources_and_how_it_came_about(tmp_path: Path) -> None:
    answer = open_world(tmp_path).answer("What was revenue by region last quarter?", run_date=date(2026, 7, 1))
    with console.capture() as capture:
        render(answer)
    shown = " ".join(capture.get().split())
    for words in ("answered", "Nordics", "750", "[S1]", "SELECT", "No language model was used."):
        assert words in shown


def test_wrong_arguments_are_refused_before_anything_starts() -> None:
    with pytest.raises(ConfigurationError, match="unknown strategy"):
        ask("What was revenue?", strategy="guess")
    with pytest.raises(ConfigurationError, match="empty"):
        ask("   ")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (" ", "the question is empty"),
        ("x" * 10_000, "the question has 10000 characters; at most 2000 are allowed"),
        ("What\x07 is it?", "control character U"),
    ],
)
def test_what_is_no_question_is_refused_before_anything_starts(text: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        check_question(text)
