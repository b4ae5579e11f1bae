"""What kind of thing a question asks for, and whether a sentence holds such a thing. Pure."""

from __future__ import annotations

import re
from enum import Enum

from rag_core.workers.numbers import find_dates, find_numbers
from rag_core.workers.wording import quote_words
from rag_core.workers.words import find_names

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
    r"\bhow (?:many|much) (?!times\b)((?:\w+[ -]){0,2}?\w+)(?= (?:is|are|was|were|do|does|did|has|have|had|can|may|"
    r"must|should|of|in|on|to|for|at|per|before|after|apply|applies|pass|under|with)\b|\?|$)",
    _FLAGS,
)
# What is counted where the verb is none of those above: `how many rules lose their message`; times are no things.
_HOW_MANY_OF = re.compile(r"\bhow many (?!times\b)([a-z]+s)\b", _FLAGS)

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
_SURE_CAUSE = re.compile(
    r"\b(?:because|caus(?:e|es|ed|ing)|due to|led to|leads? to|the reason|as a result|results? (?:of|from)|that is why|"
    r"explains?|drains?|drained|forced|traced to|owing to|came from|driven by|leak\w*|therefore)\b",
    _FLAGS,
)
_MAY_CAUSE = re.compile(
    r"\b(?:since|after|so that|, so|rose by|fell by|postponed|froze|freeze|launched|released|stopped|began|why)\b",
    _FLAGS,
)
_HAS_ACTION = re.compile(
    r"\b(?:must|should|never|first|then|only|do not|may|drain|restart|run|call|declare|stop)\b", _FLAGS
)
_BYLINE = re.compile(
    r"^(?:\w[\w ]*: [^|]{1,60}\|\s*)+\w[\w ]*: [^|]{1,80}$|^Larkspur\b.{0,80}\d{4}-\d{2}-\d{2}$|"
    r"^[\w .&-]{2,40}\|.{0,60}\d{4}-\d{2}-\d{2}$"
)

_PRICE = re.compile(r"\b(?:what|how much) (?:does|do|did|is|are) .*\bcosts?\b|\b(?:price|fee) of\b", _FLAGS)
_HAS_PRICE = re.compile(r"\b(?:EUR|USD|GBP|SEK)\b|[€$£]|%|\btimes\b")
# The verb asks for the price of a thing, the noun for an expense.
_COSTS = re.compile(r"\b(?:what|how much) (?:does|do|did|will|would) .+ cost\b", _FLAGS)
_WHICH = re.compile(r"\b(?:which|what) (?:(two|three|four|five|\d) )?([a-z][a-z-]+)", _FLAGS)
_WHO = re.compile(r"^(?:and )?who (?!is\b|are\b|was\b|were\b|has\b|had\b|can\b|may\b|must\b|should\b)(\w+)", _FLAGS)
_HAS_TIME = re.compile(r"\b\d{1,2}:\d{2}\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b", _FLAGS)
_TIME_OF_DAY = re.compile(r"\b(?:at|to|from) what time\b|\bwhat time\b", _FLAGS)
_LIMIT = re.compile(r"\bhow (?:many|much|long|old|large|big|far|often)\b.*\b(?:may|can|must|allowed|limit)\b", _FLAGS)
_HAS_LIMIT = re.compile(
    r"\b(?:limit\w*|at most|at least|up to|maximum|minimum|no more than|may|must|cap|capped|allowed|not exceed)\b"
)

HOLDS, LACKS = 0.3, -0.3


class Kind(Enum):
    """A kind of thing that a question can be after."""

    DATE = "date"
    DURATION = "duration"
    NUMBER = "number"
    NAME = "name"


def names_doer(question: str, text: str) -> bool:
    """For `who decides`: whether a text holds the doing beside a new name; true for any other question."""
    return _WHO.search(question) is None or _fit_who(question, text) > 0


def kinds_asked(question: str) -> tuple[Kind, ...]:
    """The kinds of things without which a sentence does not answer the question."""
    kinds = []
    if re.search(
        r"^(?:and )?(?:since |until |from )?when\b|\b(?:what|which) (?:date|day|month|year)\b|, (?:and )?when$",
        question,
        _FLAGS,
    ):
        kinds.append(Kind.DATE)
    if re.search(r"\bhow long\b|\bhow many (?:seconds|minutes|hours|days|weeks|months|years)\b", question, _FLAGS):
        kinds.append(Kind.DURATION)
    elif re.search(r"\bhow (?:many|much|large|high|big)\b|\bwhat percentage\b", question, _FLAGS):
        kinds.append(Kind.NUMBER)
    if re.search(
        r"^(?:and )?(?:to |by |with )?who(?:m|se)?\b|\bwhich (?:customer|competitor|person|company)\b", question, _FLAGS
    ):
        kinds.append(Kind.NAME)
    return tuple(kinds)


def holds(kind: Kind, text: str, known: str = "") -> bool:
    """Whether a text holds a thing of this kind; names that `known` (the question) uses are none."""
    if kind is Kind.DATE:
        return bool(find_dates(text) or _HAS_TIME.search(text) or _HAS_DURATION.search(text))
    if kind is Kind.DURATION:
        return bool(_HAS_DURATION.search(text))
    if kind is Kind.NUMBER:
        return bool(find_numbers(text))
    return bool(new_names(text, known))


def asks_price(question: str) -> bool:
    """Whether a question is after what a thing costs whoever buys it."""
    return bool(_COSTS.search(question))


def is_byline(text: str) -> bool:
    """Whether a line only says whose document it is and of when."""
    return bool(_BYLINE.match(text.strip()))


def asks_cause(question: str) -> bool:
    """Whether a question is after why something is so."""
    return bool(_CAUSE.search(question))


def holds_cause(text: str) -> bool:
    """Whether a text has words of cause or tells when something began."""
    return bool(_HAS_CAUSE.search(text) or find_dates(text))


def names_cause(text: str) -> bool:
    """Whether a text has words that tell a cause and nothing else."""
    return bool(_SURE_CAUSE.search(text))


def hints_cause(text: str) -> bool:
    """Whether a text has words that may tell a cause, or only an order in time."""
    return bool(_MAY_CAUSE.search(text))


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
        value += (
            HOLDS
            if find_dates(text) or _HAS_TIME.search(text)
            else (0.0 if _HAS_DURATION.search(text) or find_numbers(text) else LACKS)
        )
    if _PERSON.search(question):
        value += HOLDS / 2 if new_names(text, question) else LACKS / 2
    if _PRICE.search(question):
        value += HOLDS if _HAS_PRICE.search(text) else LACKS
    value += _fit_which(question, text) + _fit_who(question, text)
    if _CAUSE.search(question):
        value += 2 * HOLDS if _HAS_CAUSE.search(text) else 0.0
    if _ACTION.search(question):
        value += HOLDS / 2 if listed or _HAS_ACTION.search(text) else 0.0
    if _LIMIT.search(question):
        value += HOLDS if _HAS_LIMIT.search(text) else 0.0
    if (counted := _HOW_MANY.search(question)) is not None:
        value += HOLDS if counts(text, counted[1]) else 0.0
    return value


def new_names(text: str, known: str) -> list[str]:
    """Names in a text that another one does not use."""
    lowered = known.lower()
    return [name for name in find_names(text) if name[0].isupper() and name.lower() not in lowered]


def _fit_who(question: str, text: str) -> float:
    """For `who decides`: whether the text holds a new name beside what is done."""
    found = _WHO.search(question)
    if found is None:
        return 0.0
    done = set(quote_words(found[1]))
    return HOLDS if done and done <= set(quote_words(text)) and new_names(text, question) else 0.0


def _fit_which(question: str, text: str) -> float:
    """For `which clause`, `which two partners`: whether the text names such a thing, or so many."""
    found = _WHICH.search(question)
    if found is None:
        return 0.0
    if found[1]:
        wanted = {"two": 2, "three": 3, "four": 4, "five": 5}.get(found[1].lower()) or int(found[1])
        return HOLDS if len(new_names(text, question)) >= wanted else 0.0
    noun = re.escape(found[2].rstrip("s"))
    return HOLDS / 2 if re.search(rf"(?i:\b{noun}s?) (?:[A-Z]|\S*\d)", text) else 0.0


def counted_noun(question: str) -> str | None:
    """What a question counts: `widgets` of "How many widgets were returned?"; None where it counts nothing."""
    found = _HOW_MANY.search(question)
    if found is None or "many" not in found.group().lower():
        found = _HOW_MANY_OF.search(question)
    return found[1].split()[-1].lower() if found is not None else None


def counts(text: str, noun: str) -> bool:
    """Whether a number stands right before the thing counted."""
    last = re.escape(noun.split()[-1].lower().rstrip("s"))
    return (
        re.search(
            rf"(?:\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve))[\w,.]*\s+(?:\w+\s+)?{last}",
            text.lower(),
        )
        is not None
    )
