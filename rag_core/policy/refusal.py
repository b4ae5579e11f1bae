"""How the guard says no."""

from __future__ import annotations

from rag_core.datamodel.catalog import CatalogTable


class Refusal(Exception):
    """A reason not to run a statement; never leaves the guard, which turns it into a verdict.

    Args:
        code: a stable word for the kind.
        message: one sentence for people and for the chat model.
        suggestions: what to write instead, best first.
        scores: similarity (0 to 1) of each suggestion, empty where the suggestions are no near misses.
        about: tables that the suggestions name.
    """

    def __init__(
        self,
        code: str,
        message: str,
        suggestions: tuple[str, ...] = (),
        scores: tuple[float, ...] = (),
        about: tuple[CatalogTable, ...] = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.suggestions = suggestions
        self.scores = scores
        self.about = about
