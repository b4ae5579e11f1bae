"""The words that reports use for states."""

from __future__ import annotations

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


def title_of(state: str, status: str) -> str:
    """What is said of a question: its status where it was published or just not answered, else where its row went."""
    return STATUS_TITLES[status] if state in ("published", "failed") else STATE_TITLES[state]
