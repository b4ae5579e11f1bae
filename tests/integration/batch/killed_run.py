"""Answers a run in a process of its own and dies at a question: `killed_run.py DSN RUN_ID REPORTS DYING_QUESTION`."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any, cast

from rag_core.batch.runner import BatchRunner
from rag_core.connectors.store import Store
from rag_core.datamodel.answer import Answer
from tests.integration.batch.scripted import ScriptedOrchestrator, scripted_answer


def _die() -> Answer:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("the process outlived SIGKILL")


def main(dsn: str, run_id: str, reports: str, dying: str) -> None:
    """Answers a, b and c, and dies at one of them."""
    answers: dict[str, Any] = {name: scripted_answer() for name in ("a", "b", "c")}
    orchestrator = ScriptedOrchestrator({**answers, dying: _die})
    runner = BatchRunner(store=Store(dsn), orchestrator=lambda: cast(Any, orchestrator), reports_folder=Path(reports))
    runner.answer(run_id, ["a", "b", "c"])


if __name__ == "__main__":
    main(*sys.argv[1:])
