"""Whether quotes answer a question of two hops, or only tell of whom it asks. Pure.

"What is the population of the town that has the castle?" is answered by a sentence on the town. One on the castle
holds nearly every word of the question, and nothing of what is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_core.workers.wording import quote_words

# What is asked of something that a clause of its own describes: `the birth name of the singer who ...`.
_DESCRIBED = re.compile(
    r"^(?:and )?(?:what|which)(?:'s| is| was| are| were) (?:the |its |their )?(?P<asked>(?:[a-z][\w-]* ){1,3}?)"
    r"(?:of|by|for|in|from|on|at) .*\b(?:that|who|which|whose|whom|where)\b",
    re.IGNORECASE,
)
# What somebody did who is told by another name: `what did the director of The Long Night begin as`.
_ROLE = re.compile(
    r"\b(?:did|does|do|has|had|was|is|were|are) the (?:[a-z][\w-]* ){1,2}(?:of|behind|for|from) (?P<rest>.+)$",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?:[A-Z0-9][\w.'\u2019-]*(?:\s+(?:of|the|and|&)\s+(?=[A-Z0-9])|\s+|$))+")
# Kinds of things that a sentence tells without their word.
UNSAID = frozenset(
    quote_words(
        "name number amount date day year time place person company customer reason value total team kind type title "
        "version release"
    )
)


def doubt_hop(question: str, quotes: Sequence[str]) -> str:
    """What speaks against quotes answering the second hop of a question, empty for nothing.

    Args:
        question: as asked.
        quotes: what is quoted, each with the headings above it.
    """
    text = question.strip(" ?.")
    asked = _asked_of(text) or _done_by(text)
    if not asked or not quotes:
        return ""
    held = [set(quote_words(quote)) for quote in quotes]
    if any(asked & words for words in held):
        return ""
    return "what is quoted tells of whom or what is asked, and not what is asked of it"


def _asked_of(text: str) -> set[str]:
    """The last word of what is asked of something described by a clause."""
    found = _DESCRIBED.search(text)
    words = [word for word in quote_words(found["asked"]) if not word.startswith("<")] if found is not None else []
    words = [word for word in words if word not in UNSAID] or words
    return set(words[-1:]) - (UNSAID if len(words) == 1 else set())


def _done_by(text: str) -> set[str]:
    """The words behind the name by which somebody is told; one alone is told in other words often."""
    found = _ROLE.search(text)
    if found is None:
        return set()
    names = list(_NAME.finditer(found["rest"]))
    tail = found["rest"][names[-1].end() :] if names else ""
    words = {word for word in quote_words(tail) if not word.startswith("<")}
    return words if len(words) > 1 else set()
