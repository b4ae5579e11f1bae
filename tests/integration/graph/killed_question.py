"""Answers questions in processes that may kill themselves: forks one for each line of JSON on its input.

A line holds `dsn`, `folder`, `url`, `run_id`, `out` (the file that the answer goes to), `node` and `when`: `before` or
`after`, whether the process dies before the node has done anything, or when it has done all and nothing of it is kept
yet; node `none` dies nowhere. Each line of output is the exit status. The parent has imported everything and opened
nothing, so that a process costs a fork and not ten seconds of imports.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any

from rag_core.connectors.chat_model import OpenAIChatModel
from rag_core.connectors.chat_model_ledger import ModelCallLedger
from rag_core.connectors.store import Store
from rag_core.graph.checkpoints import Checkpoints
from rag_core.graph.nodes import Nodes
from rag_core.settings import ChatModelSettings
from tests.question_world import open_world

METHODS = {"sql_worker": "run_sql", "vector_worker": "run_search"}
QUESTION = "List the regions by postcode"


def _die(node: str, when: str) -> None:
    name = METHODS.get(node, node)
    action = getattr(Nodes, name)

    def run(self: Nodes, state: Any) -> Any:
        if when == "after":
            action(self, state)
        os.kill(os.getpid(), signal.SIGKILL)

    run.__annotations__ = action.__annotations__
    setattr(Nodes, name, run)


def answer(dsn: str, folder: str, url: str, node: str, when: str, run_id: str, out: str) -> None:
    """Answers the question, or dies at the node."""
    if node != "none":
        _die(node, when)
    store = Store(dsn)
    settings = ChatModelSettings(base_url=url, model="stand-in")
    model = OpenAIChatModel(settings, ledger=ModelCallLedger(store))
    checkpoints = Checkpoints(store)
    orchestrator = open_world(Path(folder), chat_model=model, store=store, checkpoints=checkpoints)
    given = orchestrator.answer(QUESTION, run_date=date(2026, 7, 1), question_id="q1", run_id=run_id)
    Path(out).write_text(given.model_dump_json(), encoding="utf-8")
    checkpoints.close()
    store.close()


def main() -> None:
    """Forks for each line until the input ends."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                answer(**json.loads(line))
                os._exit(0)
            finally:  # only an error comes here; the child must not go on with the parent's loop
                traceback.print_exc()
                os._exit(1)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    for module in ("langgraph.graph", "langgraph.checkpoint.postgres", "langchain_openai", "openai", "duckdb"):
        import_module(module)
    main()
