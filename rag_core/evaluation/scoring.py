"""Scores an answer against its truth by rules. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from rag_core.datamodel.answer import Answer
from rag_core.datamodel.base import Record
from rag_core.evaluation.questions import EvalQuestion
from rag_core.workers.numbers import agrees, as_number, find_numbers

# More of the truth's points missing than this without saying so is a silent failure.
SILENT = 0.2
TOLERANCE = Decimal("1e-9")
SEARCHED = 5


class Score(Record):
    """One answer scored. `verdict`: right (every point), wrong (called answered without), or withheld.

    `unsupported` of `claims` say a number that stands in no result, no passage found and not in the question.
    `model` is the chat model of the run, empty for none.
    """

    question_id: str
    tier: str
    system: str
    status: str
    verdict: str
    points: int
    held: int
    silent: bool
    claims: int
    unsupported: int
    source_recall: float | None
    reciprocal_rank: float | None
    success: bool | None
    citation_accuracy: float | None
    steps: int
    model_calls: int
    tokens: int
    cost_usd: float
    seconds: float
    model: str = ""


def score_answer(question: EvalQuestion, answer: Answer, *, system: str, seconds: float, model: str = "") -> Score:
    """The score of one system's answer to one question, which took `seconds`; `model` is the run's chat model."""
    said = answer.status in ("answered", "partial")
    held = _held_points(question, answer) if said else 0
    right = held == question.points
    claims, unsupported = _unsupported(answer) if said else (0, 0)
    documents = [_source(path) for path in question.documents]
    rank = _rank(documents, [_source(passage.path) for passage in answer.documents])
    cited = [_source(citation.ref.partition("#")[0]) for citation in answer.citations if citation.kind == "document"]
    wanted = len(documents[:1]) + int(question.needs_sql)
    found = int(bool(set(cited) & set(documents))) + int(
        question.needs_sql and any(citation.kind == "sql" for citation in answer.citations)
    )
    usage = answer.usage
    return Score(
        question_id=question.question_id,
        tier=question.tier,
        system=system,
        status=answer.status,
        verdict="right" if right else "wrong" if answer.status == "answered" else "withheld",
        points=question.points,
        held=held,
        silent=answer.status == "answered" and held < (1 - SILENT) * question.points,
        claims=claims,
        unsupported=unsupported,
        source_recall=round(found / wanted, 3) if wanted else None,
        reciprocal_rank=(1 / rank if rank else 0.0) if question.documents else None,
        success=(0 < rank <= SEARCHED) if question.documents else None,
        citation_accuracy=answer.verdict.citation_accuracy if said else None,
        steps=sum(entry.node in ("sql_worker", "vector_worker") for entry in answer.trace),
        model_calls=usage.model_calls,
        tokens=usage.prompt_tokens + usage.completion_tokens,
        cost_usd=float(usage.cost_usd or 0),
        seconds=round(seconds, 4),
        model=model,
    )


def _held_points(question: EvalQuestion, answer: Answer) -> int:
    cells = [cell for evidence in answer.sql for row in evidence.result.rows for cell in row]
    numbers = [number for number in map(_number, cells) if number is not None]
    text = _plain(answer.text)
    texts = {_plain(cell)[:10] for cell in cells}
    held = sum(_plain(phrase) in text for phrase in question.phrases)
    held += sum(_stands(value, numbers, texts, text) for value in question.values)
    if question.needs_sql and not question.values:
        held += any(citation.kind == "sql" for citation in answer.citations)
    return held


def _stands(value: str, numbers: Sequence[Decimal], texts: set[str], text: str) -> bool:
    number = _number(value)
    if number is None:
        return _plain(value)[:10] in texts or _plain(value) in text
    if number == number.to_integral_value() and 1990 < number < 2100:
        return True  # a year is a label here
    exponent = number.as_tuple().exponent
    half = Decimal(1).scaleb(min(0, exponent if isinstance(exponent, int) else 0)) / 2 + TOLERANCE
    return any(abs(abs(known) - abs(number)) <= half for known in numbers)


def _number(value: Any) -> Decimal | None:
    if value is None or isinstance(value, bool):
        return None
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return None


def _plain(value: Any) -> str:
    return re.sub(r"\s+", " ", str(value)).strip().lower()


def _unsupported(answer: Answer) -> tuple[int, int]:
    """Claims that are said, and those of them with a number that stands nowhere in the evidence or the question."""
    cells = [cell for evidence in answer.sql for row in evidence.result.rows for cell in row]
    known = [number for number in map(as_number, cells) if number is not None]
    written = " ".join([answer.question, *(passage.text for passage in answer.documents)])
    written += " ".join(f" {passage.title} {passage.metadata}" for passage in answer.documents)
    written += " ".join(f" {evidence.task} {evidence.sql}" for evidence in answer.sql)
    mentioned = {mention.value.copy_abs() for mention in find_numbers(written)}
    claims = [claim for claim in answer.claims if claim.supported]
    unsupported = sum(
        any(
            mention.value.copy_abs() not in mentioned and not any(agrees(mention, number) for number in known)
            for mention in find_numbers(claim.text)
        )
        for claim in claims
    )
    return len(claims), unsupported


def _source(path: str) -> str:
    """A document's path without its end: the sample's Markdown sources are indexed in nine formats."""
    return re.sub(r"\.[A-Za-z]+$", "", path)


def _rank(documents: Sequence[str], paths: Sequence[str]) -> int:
    """Place of the first document that holds the truth, counted over documents; 0 for none."""
    return next((place for place, path in enumerate(dict.fromkeys(paths), start=1) if path in documents), 0)
