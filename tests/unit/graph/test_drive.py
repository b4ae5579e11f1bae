from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from rag_core.graph.drive import drive
from rag_core.graph.state import Request
from tests.question_world import open_world

VOLATILE = {"trace", "timings_ms", "sql"}


@pytest.mark.parametrize(
    "question",
    [
        "What was revenue last quarter?",
        "When did the dock workers stop work?",
        "Why did the revenue of the Nordics fall in Q2 2026?",
        "Which region had the highest revenue in Q1 2026 and how many orders did it have in Q1 2026?",
        "Who is the patron saint of plumbers?",
        "What were sales last quarter?",
    ],
)
def test_both_ways_visit_the_same_nodes_and_say_the_same(tmp_path: Path, question: str) -> None:
    world = open_world(tmp_path)
    request = Request(question=question, run_date=date(2026, 7, 1))
    by_graph = world.get_compiled_app().invoke({"request": request})["answer"]
    by_hand = drive(world._nodes, {"request": request}, limit=100)["answer"]
    assert by_hand.model_dump(exclude=VOLATILE) == by_graph.model_dump(exclude=VOLATILE)
    assert [entry.node for entry in by_hand.trace] == [entry.node for entry in by_graph.trace]


def test_what_does_not_end_is_ended(tmp_path: Path) -> None:
    request = Request(question="What was revenue last quarter?", run_date=date(2026, 7, 1))
    with pytest.raises(RecursionError):
        drive(open_world(tmp_path)._nodes, {"request": request}, limit=3)
