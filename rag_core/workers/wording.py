"""Terms of a text for comparing what is asked with what is written: stems, and marks for words that mean alike. Pure.

The marks are general English (irregular verbs, words of rising and falling, of price, of ownership), nothing of any
one company.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from rag_core.retrieval.tokens import STOP_WORDS, stem, tokenize

KEPT_TEXTS = 16_384

# Words that people use for one another: each set counts as a word of its own beside those that stand in the text.
UP, DOWN = "<up>", "<down>"
_ALIKE = (
    (UP, r"ris\w+|rose|increas\w+|grow\w*|grew|jump\w*|climb\w*|doubl\w+|tripl\w+|higher|surg\w+|longer|rush"),
    (DOWN, r"fall\w*|fell|drop\w*|declin\w*|decreas\w*|shrink\w*|shrank|shrunk|lower|weak\w*|lost|loses?|dip\w*"),
    ("<price>", r"costs?|pric(?:e[sd]?|ing)|charg(?:e[sd]?|ing)|fees?"),
    ("<own>", r"own(?:s|ed|ers?|ership)?|belong(?:s|ed)?|holds? (?:all|most|the majority)"),
    # In lower case only: May is a month.
    ("<limit>", r"may|limits?|limited|at most|up to|maximum|no more than|capp?(?:ed|s)?|allowed|ceiling|only"),
    ("<again>", r"again|next|return(?:s|ed|ing)?|resum\w+|re-?open\w*"),
    ("<churn>", r"churn\w*|leave|leaves|leaving|left|cancel\w*"),
)
_MARKS = tuple((mark, re.compile(rf"\b(?:{words})\b")) for mark, words in _ALIKE)

_WORD = re.compile(r"[^\W_][\w.'’/-]*")

# Irregular verbs: each form stands for the first one.
_VERBS = """
    arise arose arisen|be became become|begin began begun|break broke broken|bring brought|build built|buy bought|
    carry carried|catch caught|choose chose chosen|come came|cut cuts|deal dealt|do did done|draw drew drawn|
    drive drove driven|fall fell fallen|feel felt|find found|freeze froze frozen|give gave given|go went gone|
    grow grew grown|hang hung|have had|hear heard|hold held|keep kept|know knew known|lead led|leave left|lend lent|
    lose lost|make made|mean meant|meet met|pay paid|rise rose risen|run ran|say said|see saw seen|sell sold|
    send sent|shrink shrank shrunk|spend spent|stand stood|speak spoke spoken|take took taken|teach taught|
    tell told|think thought|throw threw thrown|understand understood|win won|withdraw withdrew withdrawn|
    write wrote written
"""
_BASE = {
    stem(form): verbs.split()[0] for verbs in " ".join(_VERBS.split()).split("|") for form in verbs.split()[1:] if verbs
}
# Nouns and verbs that Snowball leaves apart: decide and decision, respond and response, extend and extension.
_D_AND_S = re.compile(r"^(\w{2,}(?:en|an|on|ci|vi|lu))s$")
# Words of a question that say how it asks and not what it asks about.
_ASKING = frozenset(
    stem(word)
    for word in re.findall(
        r"\w+",
        """cause caused causes reason reasons explain explains explained explanation drive drives drove driven
    behind start started rise rose fall fell increase decrease change changed drop dropped jump jumped develop developed
    compare compared differ differs many much long often stand stands happen happens happened name state says tell
    give given show list must quickly quick soon fast""",
    )
)


# The unit in which an answer is to be given, and what leads to it.
_MEASURE = re.compile(
    r"\bhow (?:many|much) (?P<unit>(?:working |business |calendar )?(?:seconds?|minutes?|hours?|days?|weeks?|months?|"
    r"quarters?|years?|percent\w*|points?|euros?))\b|\b(?P<within>within)\b(?= (?:how|what|which)\b)",
    re.IGNORECASE,
)


@lru_cache(maxsize=20_000)
def _alike(term: str) -> str:
    base = _BASE.get(term)
    if base is not None:
        return stem(base)
    found = _D_AND_S.match(term)
    return f"{found[1]}d" if found else term


def quote_words(text: str) -> list[str]:
    """Terms of a text in order; irregular forms are told by their verb, and words that mean alike add a mark."""
    return list(_quote_words(text))


# The same sentences and headings are held against question after question.
@lru_cache(maxsize=KEPT_TEXTS)
def _quote_words(text: str) -> tuple[str, ...]:
    terms = [_alike(term) for term in tokenize(text)]
    lowered = text.lower()
    marks = [mark for mark, pattern in _MARKS if pattern.search(text if mark == "<limit>" else lowered)]
    return (*terms, *marks)


def asked_words(question: str) -> list[str]:
    """Terms of a question that say what it is about, without those that say how it asks."""
    return [word for word in quote_words(question) if word not in _ASKING and not word.startswith("<")]


def measure_words(question: str) -> set[str]:
    """Terms of a question that name the unit asked for: any sentence with a time has them, whatever it is about."""
    units = (found["unit"] or found["within"] for found in _MEASURE.finditer(question))
    return {word for unit in units for word in quote_words(unit)}


def pairs(text: str) -> set[tuple[str, str]]:
    """Neighbouring terms of a text, stop words between them left out; parts of one name or identifier are no pair."""
    return set(_pairs(text))


@lru_cache(maxsize=KEPT_TEXTS)
def _pairs(text: str) -> frozenset[tuple[str, str]]:
    words = [word for word in _WORD.findall(text) if word.lower() not in STOP_WORDS]
    found = set()
    for before, after in pairwise(words):
        first, second = tokenize(before), tokenize(after)
        if first and second and not (before[:1].isupper() and after[:1].isupper()):
            found.add((_alike(first[0]), _alike(second[0])))
    return frozenset(found)
