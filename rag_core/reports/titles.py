"""The words that reports use for states."""

from __future__ import annotations

from collections.abc import Iterable

STATE_TITLES = {
    "published": "Published",
    "quarantined": "Kept back",
    "failed": "Failed",
    "needs_model": "Needs a model",
}
STATUS_TITLES = {
    "answered": "Answered",
    "partial": "Partly answered",
    "no_evidence": "No evidence",
    "needs_model": "Needs a model",
    "refused": "Refused",
    "needs_clarification": "Needs clarification",
    "paused": "Paused",
    "failed": "Failed",
}
VERDICT_TITLES = {"pass": "Passed", "fail": "Failed", "error": "Could not be made", "not_judged": "Not judged"}

# What is said of published answers that are no whole ones.
_SHORTFALLS = {"partial": "in part", "no_evidence": "without evidence"}


def count_words(state: str, count: int) -> str:
    """What is said of so many questions in a state, behind their number: `kept back`, `need a chat model`."""
    if state == "needs_model":
        return "needs a chat model" if count == 1 else "need a chat model"
    return STATE_TITLES[state].lower()


def count_states(outcomes: Iterable[tuple[str, str]]) -> tuple[tuple[str, int, str], ...]:
    """State, number and words for each state that there is among these states and statuses.

    Published answers that fall short of their questions are counted by how they do: `published (1 without evidence)`.
    """
    found = list(outcomes)
    states = [state for state, _ in found]
    short = [
        f"{found.count(('published', status))} {words}"
        for status, words in _SHORTFALLS.items()
        if ("published", status) in found
    ]
    notes = {"published": f" ({', '.join(short)})" if short else ""}
    return tuple(
        (state, states.count(state), count_words(state, states.count(state)) + notes.get(state, ""))
        for state in STATE_TITLES
        if state in states
    )


def title_of(state: str, status: str) -> str:
    """What is said of a question: its status where it was published or just not answered, else where its row went."""
    return STATUS_TITLES[status] if state in ("published", "failed") else STATE_TITLES[state]
