"""Whether each claim is carried by what it cites. Deterministic, no model.

A claim is supported where each of its citations resolves, each number, date and name in it stands in the cited evidence
or follows from it by a calculation that the sentence states (difference, ratio, relative change, sum, mean), and, for
documents, where its words are those of a passage. Everything else is taken out of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import combinations, pairwise

from rag_core.datamodel.answer import Claim, Verdict
from rag_core.datamodel.evidence import Passage, SqlEvidence
from rag_core.workers.numbers import (
    DateMention,
    NumberMention,
    agrees,
    as_day,
    as_number,
    find_dates,
    find_numbers,
    month_span,
)
from rag_core.workers.words import contains_name, content_words, find_names, overlap, plain, split_sentences

# A paraphrase keeps most of its source's words; a sentence that shares fewer tells something else.
MIN_WORD_OVERLAP = 0.6
MAX_COMBINED_CELLS = 60

_LITERAL_DAY = re.compile(r"'(\d{4}-\d{2}-\d{2})")
_CALCULATION = re.compile(
    r"\b(?:up|down|rose|risen|rises?|fell|fallen|falls?|increas\w*|decreas\w*|declin\w*|grew|grown|growth|drop\w*|chang\w*|"
    r"differ\w*|more|less|fewer|higher|lower|above|below|times|ratio|share|doubl\w*|tripl\w*|halv\w*|total\w*|sum|"
    r"together|combined|average|mean|overall|gap|gain\w*|lost|points?)\b",
    re.IGNORECASE,
)
_OF_ALL = re.compile(r"\b(?:total\w*|sum|together|combined|average|mean|overall)\b", re.IGNORECASE)
_UP = re.compile(r"\b(?:up|rose|risen|rises|increas\w*|grew|grown|higher|gain\w*)\b", re.IGNORECASE)
_DOWN = re.compile(r"\b(?:down|fell|fallen|falls|decreas\w*|declin\w*|dropp?\w*|lower)\b", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:not|never|no longer|cannot|without|n't)\b|n't\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Support:
    """What one citation can carry: numbers as shown, days, text for names, and whole sentences of documents."""

    numbers: tuple[Decimal, ...]
    mentions: tuple[NumberMention, ...]
    days: tuple[date, ...]
    spans: tuple[tuple[date, date], ...]
    text: str
    sentences: tuple[str, ...] = ()
    groups: tuple[tuple[Decimal, ...], ...] = ()


def sql_support(evidence: SqlEvidence) -> Support:
    """What a result carries: its cells and their columns' sums, labels, row count, the statement and the task."""
    numbers: list[Decimal] = [Decimal(evidence.result.row_count)]
    days: list[date] = [*(evidence.recorded or ())]
    if (unnamed := as_number(evidence.unnamed)) is not None:
        numbers.append(unnamed)
    texts = [evidence.task, evidence.sql, *(column.name for column in evidence.result.columns)]
    texts += [f"{meaning.label} {meaning.unit}" for meaning in evidence.meanings]
    columns: list[list[Decimal]] = [[] for _ in evidence.result.columns]
    rows: list[tuple[Decimal, ...]] = []
    for row in evidence.result.rows:
        in_row = []
        for index, cell in enumerate(row):
            number = as_number(cell)
            if number is not None:
                columns[index].append(number)
                in_row.append(number)
                numbers.append(number)
            elif (day := as_day(cell)) is not None:
                days.append(day)
            elif cell is not None:
                texts.append(str(cell))
        rows.append(tuple(in_row))
    text = " ".join(texts)
    labels = " ".join(f"{meaning.label} {meaning.unit}" for meaning in evidence.meanings)
    mentions = find_numbers(
        " ".join([evidence.task, labels, *(str(c) for r in evidence.result.rows for c in r if isinstance(c, str))])
    )
    spans = [(mention.first, mention.last) for mention in find_dates(text)]
    spans += literal_periods(evidence.sql)
    groups = tuple(tuple(column) for column in columns if column) + tuple(row for row in rows if len(row) > 1)
    return Support(tuple(numbers), tuple(mentions), tuple(days), tuple(spans), plain(text), (), groups)


def literal_periods(sql: str) -> list[tuple[date, date]]:
    """The periods a statement reads: each literal day with the next later one, as [first, last] of a half-open range.

    With every period its first and its last month and day are given, which is how a range is told in words.
    """
    days = [mention.first for mention in find_dates(" ".join(_LITERAL_DAY.findall(sql)))]
    periods: list[tuple[date, date]] = []
    for first, following in pairwise(days):
        if first >= following:
            continue
        last = following - timedelta(days=1)
        periods += [(first, last), (first, first), (last, last), month_span(first.year, first.month)]
        periods.append(month_span(last.year, last.month))
    return periods


def passage_support(passage: Passage) -> Support:
    """What a passage carries: its text with title, headings and metadata."""
    head = " ".join([passage.title, *passage.heading_path, passage.path])
    extra = " ".join(
        str(value) for _, value in sorted(passage.metadata.items()) if isinstance(value, str | int | float)
    )
    text = f"{head}\n{passage.text}\n{extra}"
    mentions = tuple(find_numbers(text))
    return Support(
        numbers=(),
        mentions=mentions,
        days=(),
        spans=tuple((mention.first, mention.last) for mention in find_dates(text)),
        text=plain(text),
        sentences=(*_units(passage.text), head),
        groups=(tuple(mention.value for mention in mentions),),
    )


def _units(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.strip():
            yield from split_sentences(line)


def _stated(mention: NumberMention, support: Support) -> bool:
    if any(agrees(mention, number) for number in support.numbers):
        return True
    if mention.percent and any(agrees(mention, number * 100) for number in support.numbers if abs(number) <= 2):
        return True
    return any(other.value.copy_abs() == mention.value.copy_abs() for other in support.mentions)


def _derived(values: Sequence[Decimal]) -> Iterator[Decimal]:
    if len(values) > 1:
        yield sum(values, Decimal(0))
        yield sum(values, Decimal(0)) / len(values)
    for first, second in combinations(values, 2):
        yield first - second
        for left, right in ((first, second), (second, first)):
            if right != 0:
                yield left / right
                yield left / right * 100
                yield (left - right) / abs(right) * 100


def _calculated(mention: NumberMention, claim: str, others: Sequence[NumberMention], support: Support) -> bool:
    """Whether a sentence that speaks of a calculation gives its result rightly.

    With two or more rows or figures stated in the sentence, only these may be combined; a bare result may be combined
    from a short result, where there is no doubt what was.
    """
    if not _CALCULATION.search(claim):
        return False
    stated = [other for other in others if other is not mention]
    for group in support.groups:
        operands = [value for value in group if any(agrees(other, value) for other in stated)]
        whole = list(group) if len(group) <= 3 else []
        for values in (operands, whole):
            if any(agrees(mention, value) for value in _derived(values[:MAX_COMBINED_CELLS])):
                return True
        if len(group) > 3 and _OF_ALL.search(claim):
            total = sum(group, Decimal(0))
            if agrees(mention, total) or agrees(mention, total / len(group)):
                return True
    return False


def _date_stated(mention: DateMention, support: Support) -> bool:
    if any(mention.first <= day <= mention.last for day in support.days):
        return True
    if any(mention.first <= first and last <= mention.last for first, last in support.spans):
        return True
    return (mention.first, mention.last) in support.spans or contains_name(support.text, mention.text)


def _wrong_direction(claim: str, cites_sql: bool) -> str | None:
    """A sentence of two stated figures of one column in the order of time must not turn the movement round."""
    goes_up, goes_down = bool(_UP.search(claim)), bool(_DOWN.search(claim))
    match = re.search(r"\bfrom\s+(.{0,60}?)\s+to\s+(.{0,60})", claim)
    if match is None or goes_up == goes_down or not cites_sql:
        return None
    before, after = find_numbers(match[1], words=False), find_numbers(match[2], words=False)
    if not before or not after or before[0].value == after[0].value:
        return None
    rises = after[0].value > before[0].value
    return None if rises == goes_up else "the direction of the change contradicts its own figures"


def judge_claim(
    claim: Claim, sql: Mapping[str, SqlEvidence], passages: Mapping[str, Passage], question: str = ""
) -> Claim:
    """The claim with `supported` and `reason` set; names that the question uses need not stand in the evidence."""
    if not claim.markers:
        return claim.model_copy(update={"supported": False, "reason": "it cites nothing"})
    missing = [marker for marker in claim.markers if marker not in sql and marker not in passages]
    if missing:
        return claim.model_copy(update={"supported": False, "reason": f"{missing[0]} is no source of this answer"})
    supports = [
        sql_support(sql[marker]) if marker in sql else passage_support(passages[marker]) for marker in claim.markers
    ]
    reason = (
        _unsupported_part(claim.text, supports, question)
        or _wrong_direction(claim.text, any(marker in sql for marker in claim.markers))
        or _unlike_its_source(claim, sql, supports)
    )
    return claim.model_copy(update={"supported": reason is None, "reason": reason or ""})


def _unsupported_part(text: str, supports: Sequence[Support], question: str) -> str | None:
    numbers = find_numbers(text)
    for number in numbers:
        if number.word and re.search(rf"\b{re.escape(number.text)}\b", question, re.IGNORECASE):
            continue
        if not any(_stated(number, one) or _calculated(number, text, numbers, one) for one in supports):
            return f"the number {number.text} does not stand in its source"
    asked = plain(question)
    for mention in find_dates(text):
        if not any(_date_stated(mention, one) for one in supports) and not _year_as_number(mention, supports):
            return f"the date {mention.text} does not stand in its source"
    for name in find_names(text):
        if not any(contains_name(one.text, name) for one in supports) and not contains_name(asked, name):
            return f"the name {name} does not stand in its source"
    return None


def _year_as_number(mention: DateMention, supports: Sequence[Support]) -> bool:
    if not mention.text.isdigit():
        return False
    value = Decimal(mention.text)
    return any(value in one.numbers or any(other.value == value for other in one.mentions) for one in supports)


def _unlike_its_source(claim: Claim, sql: Mapping[str, SqlEvidence], supports: Sequence[Support]) -> str | None:
    """For sentences that cite documents alone: their words and their negation must be those of a passage."""
    if any(marker in sql for marker in claim.markers):
        return None
    wanted = content_words(claim.text)
    if overlap(wanted, [word for one in supports for word in content_words(one.text)]) < MIN_WORD_OVERLAP:
        return "its words are not those of its source"
    if any(plain(claim.text) in one.text for one in supports):
        return None  # word for word
    nearest = max(
        (sentence for one in supports for sentence in one.sentences),
        key=lambda sentence: overlap(wanted, content_words(sentence)),
        default="",
    )
    if overlap(wanted, content_words(nearest)) > 0.5 and bool(_NEGATION.search(claim.text)) != bool(
        _NEGATION.search(nearest)
    ):
        return "it negates what its source says, or the reverse"
    return None


def evaluate(
    claims: Sequence[Claim], sql: Sequence[SqlEvidence], passages: Sequence[Passage], question: str
) -> tuple[tuple[Claim, ...], Verdict]:
    """All claims judged, and the verdict on the answer that remains after the unsupported ones are removed.

    `relevance` is the share of the question's content words that the supported claims or their sources speak of;
    `citation_accuracy` the share of claims, as first written, that their citations carry.
    """
    by_marker = {evidence.marker: evidence for evidence in sql}
    by_passage = {passage.marker: passage for passage in passages if passage.marker}
    judged = tuple(judge_claim(claim, by_marker, by_passage, question) for claim in claims)
    kept = [claim for claim in judged if claim.supported]
    heard: list[str] = []
    for claim in kept:
        heard += content_words(claim.text)
        for marker in claim.markers:
            source = by_marker.get(marker)
            if source is not None:
                heard += content_words(f"{source.task} {' '.join(meaning.label for meaning in source.meanings)}")
            elif marker in by_passage:
                found = by_passage[marker]
                heard += content_words(f"{found.title} {' '.join(found.heading_path)} {found.text}")
    return judged, Verdict(
        supported=bool(kept),
        unsupported_claims=tuple(f"{claim.text} ({claim.reason})" for claim in judged if not claim.supported),
        relevance=round(overlap(content_words(question), heard), 3) if kept else 0.0,
        citation_accuracy=round(len(kept) / len(judged), 3) if judged else 0.0,
    )
