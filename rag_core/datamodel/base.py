"""The common base of all values."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """An immutable value that forbids unknown keys, so that a misspelt field is an error and not a silence."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=False)
