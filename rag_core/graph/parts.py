"""What an orchestrator is made of and asked with, apart from how it answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from rag_core.datamodel.catalog import Catalog


class SchemaSource(Protocol):
    """The warehouse's schema, kept for a while."""

    def current(self) -> Catalog:
        """The schema as last read."""
        ...

    def refresh(self) -> Catalog:
        """The schema, read anew."""
        ...


def fill_parameters(question: str, parameters: Mapping[str, Any]) -> str:
    """The question with `{name}` replaced; raises ConfigurationError for a placeholder without a value."""
    text = question
    for name in sorted(parameters):
        text = text.replace("{" + name + "}", str(parameters[name]))
    return text
