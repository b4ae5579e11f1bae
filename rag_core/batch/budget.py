"""Whether a run has used up its budget. Pure."""

from __future__ import annotations

from rag_core.datamodel.answer import Usage
from rag_core.datamodel.question import Budget


def exhausted(budget: Budget, usage: Usage, minutes: float) -> str | None:
    """Which part of the budget is used up, in words, or None.

    Args:
        budget: the bounds.
        usage: what the run's chat models have used so far.
        minutes: time since the run started.
    """
    if budget.model_calls is not None and usage.model_calls >= budget.model_calls and usage.model_calls > 0:
        return f"{usage.model_calls} of {budget.model_calls} model calls"
    if budget.cost_usd is not None and usage.cost_usd is not None and usage.cost_usd >= budget.cost_usd > 0:
        return f"{usage.cost_usd:.4f} of {budget.cost_usd} USD"
    if budget.minutes is not None and minutes >= budget.minutes:
        return f"{minutes:.0f} of {budget.minutes:g} minutes"
    return None
