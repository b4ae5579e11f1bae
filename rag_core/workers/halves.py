"""Cuts a question that names a figure and something written side by side ("churn in May and the plan for it"). Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from rag_core.workers.clauses import Clause, asks_series

# Between the two stands `and`; the second begins with what tells that it is a thing of its own.
_JOINT = re.compile(
    r",?\s+(?:and|with|plus|together with|as well as)\s+(?=(?:the|its|their|a|an|who|whom|what)\b)", re.I
)
LEAST_WORDS = 2


def halves(text: str) -> Iterator[tuple[str, str]]:
    """Every pair of texts that a joint parts, from the last one on."""
    for joint in reversed(list(_JOINT.finditer(text))):
        first, second = text[: joint.start()].strip(" ,;?."), text[joint.end() :].strip(" ,;?.")
        if len(first.split()) >= LEAST_WORDS and len(second.split()) >= LEAST_WORDS:
            yield first, second


def cut_figure(text: str, understood: Callable[[str], bool]) -> tuple[str, str] | None:
    """The two halves of which one is understood as a figure and the other is not, in their order; None without any.

    Where both are figures, or neither is, the text is not cut: `the margin and the revenue` is one question.
    """
    for first, second in halves(text):
        if understood(first) != understood(second):
            return first, second
    return None


def halved(clauses: Sequence[Clause], understood: Callable[[str], bool]) -> tuple[Clause, ...]:
    """The clauses, with those cut in two that name a figure and something written side by side.

    The half that is no figure is asked of the documents, unless it is after figures that were not understood.
    """
    found: list[Clause] = []
    for clause in clauses:
        pair = None if clause.asks_cause or understood(clause.text) else cut_figure(clause.text, understood)
        if pair is None:
            found.append(clause)
            continue
        for text in pair:
            found.append(Clause(text=text, asks_documents=not understood(text) and not asks_series(text)))
    return tuple(found)
