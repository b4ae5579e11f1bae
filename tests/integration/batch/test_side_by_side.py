"""Questions of a batch that need no chat model are answered side by side, and leave what they leave in turn."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest

from rag_core.batch.runner import BatchRunner
from rag_core.connectors.store import Store
from rag_core.datamodel.answer import Answer
from rag_core.datamodel.question import Question
from tests.integration.batch.scripted import REVENUE, RUN_DATE, ScriptedOrchestrator, make_batch, scripted_answer

pytestmark = pytest.mark.integration


class Free(ScriptedOrchestrator):
    """Says of which questions a plan is kept."""

    kept: frozenset[str] = frozenset()

    def need_no_model(self, questions: Sequence[tuple[str, Any]], *, replay: str) -> list[bool]:
        """Those in `kept`."""
        assert replay == "drafts"
        return [text in self.kept for text, _ in questions]


def test_replays_go_side_by_side_and_the_rest_in_turn(
    store: Store, connection: psycopg.Connection, tmp_path: Path
) -> None:
    meeting = threading.Barrier(2, timeout=20)
    threads: dict[str, int] = {}

    def together(name: str) -> Any:
        def answer() -> Answer:
            threads[name] = threading.get_ident()
            meeting.wait()
            return scripted_answer(REVENUE)

        return answer

    def alone(name: str) -> Any:
        def answer() -> Answer:
            assert set(threads) >= {"a", "b"}  # replays come first
            threads[name] = threading.get_ident()
            return scripted_answer(REVENUE)

        return answer

    scripted = Free({"a": together("a"), "b": together("b"), "c": alone("c"), "d": alone("d")})
    scripted.kept = frozenset({"What about a?", "What about b?"})
    questions = [Question(question_id=name, text=f"What about {name}?") for name in "abc"]
    questions.append(Question(question_id="d", text="what about A"))  # equal to the first one
    runner = BatchRunner(
        store=store, orchestrator=lambda _: cast(Any, scripted), reports_folder=tmp_path, side_by_side=2
    )
    told: list[str] = []
    run = runner.start(make_batch("side_by_side", questions), RUN_DATE)
    counts = runner.answer(run.run_id, run.groups[0], progress=lambda name, _: told.append(name))
    assert counts == {"already_answered": 0, "answered": 4}
    assert told == ["a", "b", "c", "d"]
    assert threads["c"] == threads["d"] == threading.get_ident()
    assert runner.answer(run.run_id, run.groups[0]) == {"already_answered": 4}
    assert runner.finish(run.run_id).published == 4
