"""Joins the nodes to a graph with LangGraph."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from rag_core.connectors.chat_model_context import calling
from rag_core.errors import NightshiftError
from rag_core.graph.nodes import Nodes
from rag_core.graph.state import QuestionState

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph


class Cancelled(NightshiftError):
    """Whoever asked does not want the answer any more."""


_cancel: ContextVar[threading.Event | None] = ContextVar("nightshift_cancel", default=None)


@contextmanager
def cancellable(event: threading.Event | None) -> Iterator[None]:
    """Within the block the graph stops before its next node once the event is set."""
    token = _cancel.set(event)
    try:
        yield
    finally:
        _cancel.reset(token)


def check_cancelled() -> None:
    """Raises Cancelled where the question is not wanted any more."""
    event = _cancel.get()
    if event is not None and event.is_set():
        raise Cancelled("it was cancelled")


def run_node(name: str, action: Callable[[Any], dict[str, Any]], state: Any) -> dict[str, Any]:
    """What a node adds, on its behalf for the ledger of model calls; not begun where the question was cancelled."""
    check_cancelled()
    with calling(node=name):
        return action(state)


def _node(name: str, action: Callable[[Any], dict[str, Any]]) -> Callable[[Any], dict[str, Any]]:
    @functools.wraps(action)
    def run(state: Any) -> dict[str, Any]:
        return run_node(name, action, state)

    return run


def compile_graph(
    nodes: Nodes, checkpointer: BaseCheckpointSaver[Any] | None = None
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """plan, supervise, workers side by side, validate_evidence, (reflect), synthesize, evaluate, explain."""
    from langgraph.graph import END, START, StateGraph  # noqa: PLC0415 - heavy
    from langgraph.types import Send  # noqa: PLC0415 - heavy

    def dispatch(state: QuestionState) -> Sequence[Any] | str:
        tasks = nodes.route(state)
        if not tasks:
            return "validate_evidence"
        return [Send("sql_worker" if task["step"].kind == "sql" else "vector_worker", task) for task in tasks]

    def after_plan(state: QuestionState) -> str:
        return "supervise" if state["plan"].steps else "explain"

    graph: Any = StateGraph(QuestionState)
    for name, action in (
        ("plan", nodes.plan),
        ("supervise", nodes.supervise),
        ("sql_worker", nodes.run_sql),
        ("vector_worker", nodes.run_search),
        ("validate_evidence", nodes.validate_evidence),
        ("reflect", nodes.reflect),
        ("synthesize", nodes.synthesize),
        ("evaluate", nodes.evaluate),
        ("explain", nodes.explain),
    ):
        graph.add_node(name, _node(name, action))
    graph.add_edge(START, "plan")
    graph.add_conditional_edges("plan", after_plan, ["supervise", "explain"])
    graph.add_conditional_edges("supervise", dispatch, ["sql_worker", "vector_worker", "validate_evidence"])
    graph.add_edge("sql_worker", "validate_evidence")
    graph.add_edge("vector_worker", "validate_evidence")
    graph.add_conditional_edges("validate_evidence", nodes.after_validation, ["reflect", "supervise", "synthesize"])
    graph.add_conditional_edges("reflect", nodes.after_reflection, ["supervise", "synthesize"])
    graph.add_edge("synthesize", "evaluate")
    graph.add_conditional_edges("evaluate", nodes.after_evaluation, ["synthesize", "explain"])
    graph.add_edge("explain", END)
    compiled: CompiledStateGraph[Any, Any, Any, Any] = graph.compile(
        name="nightshift-question", checkpointer=checkpointer
    )
    return compiled
