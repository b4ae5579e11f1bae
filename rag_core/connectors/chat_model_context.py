"""On whose behalf a chat model is called: the run, the question and the node, for the ledger of calls.

A context variable and not an argument, because between the graph and the model stand workers that have no business
with the ledger. LangGraph copies the context into the threads of its nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from rag_core.datamodel.base import Record


class CallContext(Record):
    """Who asks. An empty `run_id` is a question asked once, outside any run."""

    run_id: str = ""
    question_id: str = ""
    node: str = ""


_NOBODY = CallContext()
_current: ContextVar[CallContext] = ContextVar("nightshift_call_context", default=_NOBODY)


def call_context() -> CallContext:
    """On whose behalf this thread works."""
    return _current.get()


@contextmanager
def calling(*, run_id: str | None = None, question_id: str | None = None, node: str | None = None) -> Iterator[None]:
    """Within the block calls are on behalf of these; what is None stays as it was."""
    given = {"run_id": run_id, "question_id": question_id, "node": node}
    update = {name: value for name, value in given.items() if value is not None}
    token = _current.set(_current.get().model_copy(update=update))
    try:
        yield
    finally:
        _current.reset(token)
