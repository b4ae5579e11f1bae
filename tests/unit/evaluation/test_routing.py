from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_core.cli.eval_routing import route_by_model
from rag_core.errors import ConfigurationError, ModelFault
from rag_core.evaluation.routing import measure_routes, read_routes, route_by_words
from rag_core.workers.planner import Route
from tests.question_world import ScriptedModel


@pytest.mark.parametrize(
    ("question", "route"),
    [
        ("What is the percentage change in total assets in 2019?", "sql"),
        ("How are the assets of the plan determined?", "vector"),
        ("What was the total of leases in 2019, and why did the company lease more?", "hybrid"),
    ],
)
def test_words_suggest_a_route(question: str, route: str) -> None:
    assert route_by_words(question) == route


def test_accuracy_is_told_by_gold_route() -> None:
    rows = measure_routes(
        [("a", "sql"), ("b", "sql"), ("c", "vector")], lambda text: "sql" if text == "a" else "vector"
    )
    assert [(row["gold"], row["questions"], row["accuracy"]) for row in rows] == [
        ("sql", 2, 0.5),
        ("vector", 1, 1.0),
        ("hybrid", 0, None),
        ("all", 3, 0.667),
    ]


def test_a_sample_is_taken_at_even_distances_and_a_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(json.dumps({"question": str(n), "route": "sql"}) for n in range(10)))
    assert [text for text, _ in read_routes(path, sample=2)] == ["0", "5"]
    assert len(read_routes(path)) == 10
    with pytest.raises(ConfigurationError, match="no questions"):
        read_routes(tmp_path / "absent.jsonl")


def test_a_router_that_cannot_be_read_asks_both() -> None:
    reply = Route(
        reasoning="",
        next_worker="vector_worker",
        task_description_sql="",
        task_description_documents="",
        clarification="",
    )
    route = route_by_model(ScriptedModel(Route=[reply, ModelFault("no JSON")]))
    assert (route("a"), route("b")) == ("vector", "hybrid")
