"""What a chat model's tokens cost, by a table of prices that the operator keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from rag_core.connectors.yaml_files import load_model
from rag_core.datamodel.base import Record


class Price(Record):
    """US dollars per million tokens. `cached_input` None: cached tokens cost what others do."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)

    def cost(self, prompt: int, completion: int, cached: int = 0) -> float:
        """US dollars of a call; `cached` tokens are part of `prompt`."""
        cheap = self.input if self.cached_input is None else self.cached_input
        return ((prompt - cached) * self.input + cached * cheap + completion * self.output) / 1_000_000


class PriceTable(Record):
    """Prices by the name of the model."""

    version: Literal[1] = 1
    models: dict[str, Price] = {}

    def price_of(self, model: str) -> Price | None:
        """The price of a model, None where the table has none. A dated release has its family's price."""
        if model in self.models:
            return self.models[model]
        families = [name for name in self.models if model.startswith(f"{name}-2")]
        return self.models[max(families, key=len)] if families else None


def load_prices(path: Path) -> PriceTable:
    """The table in a YAML file. Raises ConfigurationError with file, line and key."""
    return load_model(path, PriceTable)
