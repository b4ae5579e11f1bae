"""Scores an answer against one that annotators wrote, by rules. Pure.

An answer here is quotes and results with citations, the gold one a few words: it is right where it says them. How near
it comes to the bare words is `exact` and `f1`, as the two sets are scored by their makers: lower case, no articles, no
punctuation; figures with their scale, to two digits after the point.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

from rag_core.datamodel.answer import Answer
from rag_core.datamodel.base import Record
from rag_core.datamodel.query import Cell
from rag_core.evaluation.hybrid_questions import HybridQuestion, Route
from rag_core.workers.numbers import NumberMention, as_number, find_numbers

Verdict = Literal["right", "wrong", "partial", "nothing"]

SCALES = {"thousand": Decimal(10) ** 3, "million": Decimal(10) ** 6, "billion": Decimal(10) ** 9}
# A figure that is shown with fewer digits than the gold one may be so far from it, as a share of it.
ROUNDED = Decimal("0.01")
KEPT = 400
_FIGURE = re.compile(r"^[-(\s]*[$€£]?\s?[-(]?[$€£]?\s*\d[\d,]*(?:\.\d+)?\s*%?\)?$")
_YEAR = re.compile(r"^(?:19|20)\d\d$")
_FELL = re.compile(r"\b(?:decreas|declin|fell|fall|drop|reduc|lower|less|down|minus|negative|loss)\w*", re.IGNORECASE)
_PARENTHESES = re.compile(r"\(\s*[$€£]?\s*(\d[\d,.]*)\s*%?\s*\)")


class HybridScore(Record):
    """One answer scored.

    `verdict`: right (answered, and every part of the gold answer is said), wrong (answered without), partial (it says
    itself what is missing or doubtful) or nothing (no answer was given). `holds`: every part is said, whatever the
    status. `said` is the beginning of what was said.
    """

    question_id: str
    route: Route
    status: str
    verdict: Verdict
    holds: bool
    exact: bool
    f1: float
    said: str
    model_calls: int
    tokens: int
    seconds: float


def score_hybrid(question: HybridQuestion, answer: Answer, *, seconds: float) -> HybridScore:
    """The score of the answer to one question, which took `seconds`."""
    given = answer.status in ("answered", "partial")
    claims = [claim.text for claim in answer.claims if claim.supported] if given else []
    rows = _rows(answer) if given else []
    said = " ".join(claims) or " ".join(str(cell) for row in rows for cell in row if cell is not None)
    holds = given and holds_gold(question, claims, rows)
    verdict: Verdict = "right" if holds else "wrong"
    if answer.status != "answered":
        verdict = "partial" if answer.status == "partial" else "nothing"
    return HybridScore(
        question_id=question.question_id,
        route=question.route,
        status=answer.status,
        verdict=verdict,
        holds=holds,
        exact=given and is_exact(question, claims, rows),
        f1=round(token_f1(" ".join(question.gold), said), 3) if given else 0.0,
        said=(said if given else answer.text)[:KEPT],
        model_calls=answer.usage.model_calls,
        tokens=answer.usage.prompt_tokens + answer.usage.completion_tokens,
        seconds=round(seconds, 3),
    )


def holds_gold(question: HybridQuestion, claims: Sequence[str], rows: Sequence[Sequence[Cell]]) -> bool:
    """Whether every part of the gold answer is said.

    A result counts where it has no more rows than the answer has parts: a whole table answers nothing. A part that the
    question says itself counts only where it stands alone: a quote that repeats the question does not choose.
    """
    told = rows if len(rows) <= len(question.gold) else []
    cells = [cell for row in told for cell in row]
    return all(_holds_part(question, part, claims, cells) for part in question.gold)


def is_exact(question: HybridQuestion, claims: Sequence[str], rows: Sequence[Sequence[Cell]]) -> bool:
    """Whether the claims, or a column of the result, are the gold answer and nothing else; figures with their scale."""
    wanted = Counter(_bare(question, part) for part in question.gold)
    columns = [[str(row[place]) for row in rows] for place in range(len(rows[0]))] if rows else []
    return any(said and Counter(_bare(question, text) for text in said) == wanted for said in (list(claims), *columns))


def token_f1(gold: str, said: str) -> float:
    """Harmonic mean of the shares of words that the two have in common, between 0 and 1."""
    wanted, given = Counter(normal(gold).split()), Counter(normal(said).split())
    common = sum((wanted & given).values())
    if not common:
        return 0.0
    precision, recall = common / sum(given.values()), common / sum(wanted.values())
    return 2 * precision * recall / (precision + recall)


def normal(text: str) -> str:
    """Lower case without accents, punctuation and articles, one space between words."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    kept = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return " ".join(re.sub(r"\b(?:a|an|the)\b", " ", re.sub(r"[^\w\s]|_", " ", kept)).split())


def gold_figure(question: HybridQuestion, part: str) -> Decimal | None:
    """A part of the gold answer as a figure in the question's scale, None where it is text, a name or a year."""
    text = part.strip()
    if not question.number and (not _FIGURE.match(text) or (_YEAR.match(text) and not question.scale)):
        return None
    digits = re.sub(r"[^\d.]", "", text)
    if not re.fullmatch(r"\d+(?:\.\d+)?", digits):
        return None
    return -Decimal(digits) if re.match(r"[^\d]*[-(]", text) else Decimal(digits)


def _holds_part(question: HybridQuestion, part: str, claims: Sequence[str], cells: Sequence[Cell]) -> bool:
    figure = gold_figure(question, part)
    if figure is not None:
        return any(_same(number, figure) for number in map(as_number, cells) if number is not None) or any(
            _tells(mention, figure, question.scale, text)
            for text in (*claims, *(cell for cell in cells if isinstance(cell, str)))
            for mention in find_numbers(_negated(text))
        )
    wanted = normal(part)
    said = [normal(text) for text in (*claims, *(str(cell) for cell in cells if cell is not None))]
    if f" {wanted} " in f" {normal(question.text)} ":
        return wanted in said
    return any(f" {wanted} " in f" {text} " for text in said)


def _tells(mention: NumberMention, figure: Decimal, scale: str, text: str) -> bool:
    """Whether a number in prose is the figure: with its scale, or as it is printed where it shows none."""
    scaled = SCALES.get(scale, Decimal(1))
    value = mention.value
    if figure < 0 < value and _FELL.search(text):
        value = -value
    return _same(value, figure * scaled, mention.quantum) or _same(value, figure, mention.quantum)


def _same(value: Decimal, figure: Decimal, quantum: Decimal = Decimal("0.01")) -> bool:
    """Equal to two digits, or a rounding of the figure to the digits shown that is hardly off."""
    if _two_digits(value) == _two_digits(figure):
        return True
    near = abs(value - figure) <= abs(figure) * ROUNDED
    return near and abs(value - figure) <= quantum / 2


def _two_digits(value: Decimal) -> Decimal:
    return value.quantize(Decimal("0.01"), ROUND_HALF_UP)


def _negated(text: str) -> str:
    """Accountants' `(12.6)` as `-12.6`; a lone small number in parentheses is a note's."""
    return _PARENTHESES.sub(lambda match: match[0] if re.fullmatch(r"\d", match[1]) else f" -{match[1]} ", text)


def _bare(question: HybridQuestion, text: str) -> str:
    """What is compared for being exact: the words, or the whole figure times its scale."""
    wanted = [gold_figure(question, part) for part in question.gold]
    if all(figure is None for figure in wanted):
        return normal(text)
    if text in question.gold:
        figure = gold_figure(question, text)
        return normal(text) if figure is None else str(_two_digits(figure * SCALES.get(question.scale, Decimal(1))))
    mentions = find_numbers(_negated(text), words=False)
    rest = _negated(text)
    for mention in mentions:
        rest = rest.replace(mention.text, " ")
    if len(mentions) != 1 or normal(rest):
        return normal(text)
    return str(_two_digits(mentions[0].value))


def _rows(answer: Answer) -> list[tuple[Cell, ...]]:
    cited = {citation.marker for citation in answer.citations}
    found: Iterable[tuple[Cell, ...]] = (
        tuple(row) for evidence in answer.sql if evidence.marker in cited for row in evidence.result.rows
    )
    return list(found)
