"""Sums what chat models cost."""

from __future__ import annotations

from collections.abc import Iterable

from rag_core.datamodel.answer import Usage


def add_usage(parts: Iterable[Usage]) -> Usage:
    """The sum; its cost is None where no part has a price."""
    known = list(parts)
    costs = [part.cost_usd for part in known if part.cost_usd is not None]
    return Usage(
        model_calls=sum(part.model_calls for part in known),
        prompt_tokens=sum(part.prompt_tokens for part in known),
        completion_tokens=sum(part.completion_tokens for part in known),
        cost_usd=sum(costs) if costs else None,
    )
