"""What kind of thing a question asks for, and whether a sentence holds such a thing. Pure."""

from __future__ import annotations

import re

from rag_core.workers.numbers import find_dates, find_numbers

_FLAGS = re.IGNORECASE
_NUMBER = re.compile(
    r"\bhow (?:many|much|often|far|high|large|big|old|late|uncertain|quickly|soon|fast)\b|\bpercent\w*\b|\bby how\b|"
    r"\b(?:what|which) (?:\w+ ){0,2}(?:percentage|share|price|number|rate|threshold|limit|amount|discount|"
    r"margin|availability|target|budget|capacity|size|growth|delay|fee)\b|\b(?:cost|price|growth|threshold)\b",
    _FLAGS,
)
_DURATION = re.compile(
    r"\bhow (?:long|quickly|soon|fast|late)\b|\bwithin (?:what|which|how)\b|\bwhat (?:time|delay|period)\b|"
    r"\bduration\b|\bhow many (?:seconds|minutes|hours|days|weeks|months|years)\b|"
    r"\b(?:window|deadline|retention|valid\w*)\b|"
    r"\bafter (?:how|what)\b",
    _FLAGS,
)
_DATE = re.compile(
    r"\bwhen\b|\b(?:what|which|on what|on which) (?:date|day|month|year)\b|\bsince when\b|\buntil when\b|"
    r"\bfrom which day\b|^date\b|\bstart and\b",
    _FLAGS,
)
_PERSON = re.compile(
    r"\bwho(?:m|se)?\b|\bwhich (?:team|person|customer|distributors?|competitor|company|supplier)\b|\bowner\b", _FLAGS
)
_CAUSE = re.compile(
    r"\bwhy\b|\bcaus\w*\b|\breasons?\b|\bexplain\w*\b|\bbehind\b|\bled to\b|\bdr[io]ves?\b|"
    r"\bwhat \w+ed\b|\bprevents?\b",
    _FLAGS,
)
_ACTION = re.compile(
    r"\bhow (?:do|does|to|can|should|is|are)\b|\bwhat (?:should|must|to do|steps?|is done|happens|does .* do)\b|"
    r"\bprocedure\b|\bfirst step\b|\bmay\b|\ballowed\b|\bcommand\b",
    _FLAGS,
)
_HOW_MANY = re.compile(
    r"\bhow (?:many|much) ((?:\w+[ -]){0,2}?\w+)(?= (?:is|are|was|were|do|does|did|has|have|had|can|may|must|"
    r"should|of|in|on|to|for|at|per|before|after|apply|applies|pass|under|with)\b|\?|$)",
    _FLAGS,
)

_HAS_DURATION = re.compile(
    r"\b(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|sixty|ninety)"
    r"[\s-]+(?:working |business |calendar )?"
    r"(?:milliseconds?|seconds?|minutes?|hours?|days?|weeks?|months?|quarters?|years?)\b",
    _FLAGS,
)
_HAS_CAUSE = re.compile(
    r"\b(?:because|caus\w+|due to|led to|leads to|reasons?|results? (?:of|from)|why|driven|drains?|drained|forced|"
    r"explain\w*|trac\w+ to|so that|therefore|since|leak\w*|owing|after|came from|rose by|postponed|froze|freeze)\b",
    _FLAGS,
)
_HAS_NAME = re.compile(r"(?<=[\w,;:.]\s)[A-ZÄÖÜÅ][\w’'-]+|[A-ZÄÖÜÅ][\w’'-]+ [A-ZÄÖÜÅ][\w’'-]+")
_HAS_ACTION = re.compile(
    r"\b(?:must|should|never|first|then|only|do not|may|drain|restart|run|call|declare|stop)\b", _FLAGS
)
_BYLINE = re.compile(
    r"^(?:\w[\w ]*: [^|]{1,60}\|\s*)+\w[\w ]*: [^|]{1,80}$|^Larkspur\b.{0,80}\d{4}-\d{2}-\d{2}$|"
    r"^[\w .&-]{2,40}\|.{0,60}\d{4}-\d{2}-\d{2}$"
)

HOLDS, LACKS = 0.3, -0.3


def is_byline(text: str) -> bool:
    """Whether a line only says whose document it is and of when."""
    return bool(_BYLINE.match(text.strip()))


def asks_cause(question: str) -> bool:
    """Whether a question is after why something is so."""
    return bool(_CAUSE.search(question))


def holds_cause(text: str) -> bool:
    """Whether a text has words of cause or tells when something began."""
    return bool(_HAS_CAUSE.search(text) or find_dates(text))


def fit(question: str, text: str, *, listed: bool = False) -> float:
    """How well a text holds the kind of thing the question asks for: about +0.6 to -0.4.

    Args:
        question: the question in plain words.
        text: a sentence, item or row.
        listed: whether it is an item of a list, which steps of a procedure are.
    """
    value = 0.0
    if _DURATION.search(question):
        value += HOLDS if _HAS_DURATION.search(text) else LACKS
    elif _NUMBER.search(question):
        value += HOLDS if find_numbers(text) else LACKS
    if _DATE.search(question):
        value += HOLDS if find_dates(text) else (0.0 if _HAS_DURATION.search(text) or find_numbers(text) else LACKS)
    if _PERSON.search(question):
        value += HOLDS / 2 if _HAS_NAME.search(text) else LACKS / 2
    if _CAUSE.search(question):
        value += 2 * HOLDS if _HAS_CAUSE.search(text) else 0.0
    if _ACTION.search(question):
        value += HOLDS / 2 if listed or _HAS_ACTION.search(text) else 0.0
    if (counted := _HOW_MANY.search(question)) is not None:
        value += HOLDS if _counts(text, counted[1]) else 0.0
    return value


def counted_noun(question: str) -> str | None:
    """What a question counts: `widgets` of "How many widgets were returned?"; None where it counts nothing."""
    found = _HOW_MANY.search(question)
    return found[1].split()[-1].lower() if found and "many" in found.group().lower() else None


def _counts(text: str, noun: str) -> bool:
    """Whether a number stands right before the thing counted."""
    last = re.escape(noun.split()[-1].lower().rstrip("s"))
    return (
        re.search(
            rf"(?:\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve))[\w,.]*\s+(?:\w+\s+)?{last}",
            text.lower(),
        )
        is not None
    )
