"""What a match of the semantic model says about a clause, beside being complete or not. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.datamodel.plan import MetricQuery
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.match import Match


def is_after_figure(match: Match) -> bool:
    """Whether a clause is after a figure: one was recognised, and no more words are left over than were understood.

    The words left over then change what is counted, so that the figure without them would be another one.
    """
    if match.query is None and not any(span.role == "figure" for span in match.spans):
        return False
    understood = sum(1 for span in match.spans if span.role not in ("unit", "said without meaning"))
    return len(match.unmatched) <= understood


def is_governed(match: Match) -> bool:
    """Whether a figure of the semantic model is asked for a period or split: documents may only mention it."""
    roles = {span.role for span in match.spans}
    return bool("figure" in roles or match.ambiguous) and bool(roles & {"time", "split", "grain"})


def is_misspelt(match: Match) -> bool:
    """Whether a clause would be understood but for words that are nearly of the semantic model."""
    return bool(match.near_misses and match.ambiguous) and match.ambiguous[0].text == match.near_misses[0].word


def left_open(match: Match) -> tuple[str, ...]:
    """What of a clause has no single meaning, with what it may mean; a misspelt word with what it may have been."""
    if not is_misspelt(match):
        return tuple(item.question.rstrip(" ?.") for item in match.ambiguous)
    return tuple(f"{item.text} (did you mean {' or '.join(item.options)}?)" for item in match.ambiguous)


def named_options(match: Match, model: SemanticModel) -> tuple[str, ...]:
    """What the only ambiguous words of a clause may mean, where each is a name that can stand in their place.

    "Each of them" and "all of them together" are no names: put for "Gateways and Meters" they ask for all families.
    """
    if len(match.ambiguous) != 1 or match.near_misses or not match.ambiguous[0].text:
        return ()
    labels = tuple(model.label(name) for name in (*model.metrics, *model.dimensions))
    options = match.ambiguous[0].options
    return options if all(option.startswith(labels) for option in options) else ()


def with_change(query: MetricQuery) -> MetricQuery:
    """For a question after a change: the figure with the period before, where it is a single period."""
    found = query.time_range
    whole = found is not None and found.start is not None and found.end is not None
    if not whole or query.grain is not None or query.comparison != "none" or query.share or query.running_total:
        return query
    if query.average_over is not None:
        return query
    return query.model_copy(update={"comparison": "previous"})


def as_moved(matches: Sequence[Match]) -> tuple[Match, ...]:
    """The matches with the change from the period before, as `with_change`; empty where one cannot tell how it moved.

    A level over all that is recorded does not say whether a figure rises.
    """
    queries = [with_change(match.query) for match in matches if match.query is not None]
    told = [query.comparison != "none" or query.grain is not None or query.running_total for query in queries]
    if len(told) < len(matches) or not all(told):
        return ()
    return tuple(match.model_copy(update={"query": query}) for match, query in zip(matches, queries, strict=True))


def ask_back(match: Match) -> str:
    """The question back to the asker."""
    if not match.ambiguous:
        return f"{match.reason[:1].upper()}{match.reason[1:]}" + ("" if match.reason.endswith(".") else ".")
    if is_misspelt(match):
        return " ".join(item.question for item in match.ambiguous)
    question = match.ambiguous[0].question
    return f"{question[:1].upper()}{question[1:].rstrip('.?')}. Which one is meant?"
