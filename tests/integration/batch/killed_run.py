"""Answers a run in a process of its own and dies: `killed_run DSN RUN_ID REPORTS WHERE`.

WHERE is the question at which it dies, or `publishing`: then it dies when every row is written and nothing committed.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any, cast

import rag_core.batch.runner as runner_module
from rag_core.batch.runner import BatchRunner
from rag_core.connectors.store import Store
from rag_core.datamodel.answer import Answer
from tests.integration.batch.scripted import ScriptedOrchestrator, scripted_answer


def _die() -> Answer:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("the process outlived SIGKILL")


def main(dsn: str, run_id: str, reports: str, dying: str) -> None:
    """Answers a, b and c, and dies at one of them or while publishing."""
    answers: dict[str, Any] = {name: scripted_answer() for name in ("a", "b", "c")}
    orchestrator = ScriptedOrchestrator({**answers, dying: _die})
    runner = BatchRunner(store=Store(dsn), orchestrator=lambda _: cast(Any, orchestrator), reports_folder=Path(reports))
    runner.answer(run_id, ["a", "b", "c"])
    runner_module.write_reports = lambda texts: _die()
    runner.finish(run_id)


if __name__ == "__main__":
    main(*sys.argv[1:])
