"""Errors of ingestion, each carrying the state that the document ends in."""

from __future__ import annotations

from ingestion.documents import DocumentState
from rag_core.errors import NightshiftError


class ConversionFault(NightshiftError):
    """A document cannot be converted, or not wholly.

    Args:
        state: the state the document ends in (never ok).
        reason: one line for the operator, without machine paths.
    """

    def __init__(self, state: DocumentState, reason: str) -> None:
        super().__init__(reason)
        self.state = state
        self.reason = reason
