"""Runs the graph's nodes without LangGraph, for replays: the same nodes in the same order over the same state.

A replay has nothing to checkpoint, and LangGraph's bookkeeping then costs as much as a small statement. Routing and
reducers are the graph's own functions, so that both ways give the same answer; a test holds them to it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, cast

from rag_core.graph.compile import run_node
from rag_core.graph.nodes import Nodes
from rag_core.graph.state import QuestionState, StepTask, merge_outcomes, sum_usage

_REDUCERS: Mapping[str, Callable[[Any, Any], Any]] = {
    "outcomes": merge_outcomes,
    "usage": sum_usage,
    "filled": operator.add,
    "unbound": operator.add,
    "decided": operator.add,
    "trace": operator.add,
}


def drive(nodes: Nodes, state: QuestionState, *, limit: int) -> QuestionState:
    """The final state of a question; raises RecursionError after `limit` nodes."""
    values: dict[str, Any] = dict(state)
    node = "plan"
    for _ in range(limit):
        node = _visit(nodes, values, node)
        if not node:
            return cast(QuestionState, values)
    raise RecursionError(f"the question did not end within {limit} nodes")


def _visit(nodes: Nodes, values: dict[str, Any], node: str) -> str:
    """Visits a node and names the next one, empty at the end."""
    state = cast(QuestionState, values)
    if node == "work":
        for update in _work_side_by_side(nodes, nodes.route(state)):
            _merge(values, update)
        return "validate_evidence"
    actions: dict[str, Callable[[Any], dict[str, Any]]] = {
        "plan": nodes.plan,
        "supervise": nodes.supervise,
        "validate_evidence": nodes.validate_evidence,
        "reflect": nodes.reflect,
        "synthesize": nodes.synthesize,
        "evaluate": nodes.evaluate,
        "explain": nodes.explain,
    }
    _merge(values, run_node(node, actions[node], state))
    if node == "plan":
        return "supervise" if values["plan"].steps else "explain"
    following: dict[str, Callable[[QuestionState], str]] = {
        "supervise": lambda _: "work",
        "validate_evidence": nodes.after_validation,
        "reflect": nodes.after_reflection,
        "synthesize": lambda _: "evaluate",
        "evaluate": nodes.after_evaluation,
        "explain": lambda _: "",
    }
    return following[node](state)


def _work_side_by_side(nodes: Nodes, tasks: Sequence[StepTask]) -> list[dict[str, Any]]:
    """What the workers bring, in the order of the tasks; the last one is done in this thread."""
    if len(tasks) < 2:
        return [_work(nodes, task) for task in tasks]
    with ThreadPoolExecutor(max_workers=len(tasks) - 1) as pool:
        others = [pool.submit(copy_context().run, _work, nodes, task) for task in tasks[:-1]]
        last = _work(nodes, tasks[-1])
        return [*(other.result() for other in others), last]


def _work(nodes: Nodes, task: StepTask) -> dict[str, Any]:
    sql = task["step"].kind == "sql"
    return run_node("sql_worker" if sql else "vector_worker", nodes.run_sql if sql else nodes.run_search, task)


def _merge(values: dict[str, Any], update: Mapping[str, Any]) -> None:
    for name, value in update.items():
        reduce = _REDUCERS.get(name)
        values[name] = reduce(values[name], value) if reduce is not None and name in values else value
