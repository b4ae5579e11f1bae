"""Runs a question whose state is kept after each node, from where it stands."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, cast

from rag_core.graph.bounds import renewed_deadline
from rag_core.graph.state import QuestionState

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph

logger = logging.getLogger(__name__)


def run_checkpointed(
    app: CompiledStateGraph[Any, Any, Any, Any], state: QuestionState, *, thread: str, limit: int, seconds: float
) -> QuestionState:
    """The final state: what was kept where the question had ended, else from its last node on, else from the start.

    Args:
        app: the graph, compiled with a checkpointer.
        state: where nothing of this thread is kept yet.
        thread: the name of the question's checkpoints.
        limit: most supersteps.
        seconds: that a question which goes on may take.
    """
    config: RunnableConfig = {"recursion_limit": limit, "configurable": {"thread_id": thread}}
    found = app.get_state(config)
    if "answer" in found.values:
        return cast(QuestionState, found.values)
    with ExitStack() as stack:
        if found.next:
            logger.info("question %s goes on at %s", thread, ", ".join(found.next))
            stack.enter_context(renewed_deadline(seconds))
        given: Any = None if found.next else state
        return cast(QuestionState, app.invoke(given, config, durability="sync"))
