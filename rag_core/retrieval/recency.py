"""Age as a factor on a score."""

from __future__ import annotations

import re
from datetime import date

from rag_core.errors import ConfigurationError

# Half-life where a question asks for the present without saying how far back it reaches.
NOW_HALF_LIFE_DAYS = 365.0

_ABOUT_NOW = re.compile(
    r"\b(current(ly)?|latest|newest|most recent(ly)?|now(adays)?|today|at present|up[- ]to[- ]date|in force)\b", re.I
)


def decay(document_date: date | None, today: date, half_life_days: float) -> float:
    """0.5 for a document of exactly one half-life, 1 for one of today or later.

    A document without a date gets 0.5: neither the freshest nor the stalest. Raises ConfigurationError where the
    half-life is not positive.
    """
    if not half_life_days > 0:
        raise ConfigurationError("the recency half-life must be a positive number of days")
    if document_date is None:
        return 0.5
    age = max(0, (today - document_date).days)
    return float(0.5 ** (age / half_life_days))


def asks_about_now(query: str) -> bool:
    """Whether a question wants the present state, so that an old document should give way to a new one."""
    return bool(_ABOUT_NOW.search(query))
