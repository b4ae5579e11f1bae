"""The error of a question that can be read in more than one way, or in none."""

from __future__ import annotations


class Unclear(Exception):
    """The question cannot be read in one way only; `options` are labels to choose from, empty where none is offered."""

    def __init__(self, reason: str, *, text: str = "", options: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.text = text
        self.options = options
