"""What would mislead in the evidence, found before anything is said. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import combinations
from pathlib import PurePosixPath
from typing import Any

from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.evidence import ColumnMeaning, Finding, Passage, SqlEvidence
from rag_core.workers.numbers import as_day, as_number, find_numbers
from rag_core.workers.words import content_words, split_sentences

MAX_NULL_SHARE = 0.8
# Columns of a comparison: the first period of all has none before it.
_COMPARED = ("_previous", "_year_ago", "_change", "_change_percent")
MIN_AGREEMENT = 0.55
# Two quotes answer the same question where they share so much of it, what is counted left out.
MIN_ASKED = 0.6
# Documents that tell what happened once; what they measured then contradicts no rule and no other event.
_EVENTS = frozenset({"incident", "postmortem"})
# Words of a question that say how it asks.
_ASKING = frozenset(
    content_words("must may can should shall need quickly quick soon fast long often many much far late allowed take")
)
_IDENTIFIER = re.compile(r"\b[A-Z]{2,}-\d[\d-]*\b")
_PARTY = re.compile(r"\b(?:with|for|to|between)\s+((?:[A-Z][\w&.-]*\s*)+)")
# Units of things that are counted or measured from zero; a margin or a change can be negative, these cannot.
_NEVER_NEGATIVE = frozenset(
    {"minutes", "hours", "days", "seconds", "persons", "employees", "orders", "tickets", "customers"}
)
_NUMERIC_TYPES = re.compile(r"^(?:numeric|decimal|number|real|double|float|bigint|integer|int|smallint)", re.IGNORECASE)
_SUPERSEDED = frozenset({"superseded", "retired", "obsolete", "deprecated", "withdrawn", "archived"})


def validate_sql(evidence: SqlEvidence, catalog: Catalog | None = None, *, may_be_empty: bool = False) -> list[Finding]:
    """Findings on one result. `severity` error means that nothing may be said from it.

    `catalog` is needed for the fan-out check of statements that a model wrote.
    """
    result = evidence.result
    if not result.rows:
        limited = ", ".join(result.row_limited)
        # Not to be seen is told apart from not there.
        told = (
            f"no rows are visible: of {limited} not all may be seen here" if limited else "the query returned no rows"
        )
        found = [("empty", "info" if may_be_empty and not limited else "error", told)]
    else:
        found = [problem for index in range(len(result.columns)) for problem in _column_problems(evidence, index)]
        if may_be_empty and len(result.rows) == 1 and not result.row_limited:
            # One figure of no row at all: there is none, which is told as such.
            found = [(code, "info" if code == "null_only" else severity, told) for code, severity, told in found]
        if result.row_limited and _is_zero(evidence):
            limited = ", ".join(result.row_limited)
            found.append(("row_limited", "warning", f"of {limited} not all rows may be seen here, only those counted"))
    if result.truncated_by is not None:
        told = f"the result was cut at {result.row_count:,} rows ({result.truncated_by} cap)"
        found.append(("truncated", "warning", told))
    if evidence.strategy == "model":
        found += _statement_problems(evidence, catalog)
    return [
        Finding.model_validate({"code": code, "severity": severity, "message": message, "marker": evidence.marker})
        for code, severity, message in found
    ]


def schema_findings(followed: Sequence[str], marker: str) -> list[Finding]:
    """One warning for each rename that a statement was mended to follow, and each undecided change it reads."""
    return [Finding(code="schema_drift", severity="warning", message=text, marker=marker) for text in followed]


def _column_problems(evidence: SqlEvidence, index: int) -> Iterator[tuple[str, str, str]]:
    column = evidence.result.columns[index]
    cells = [row[index] for row in evidence.result.rows]
    meaning = next((item for item in evidence.meanings if item.name == column.name), None)
    label = meaning.label if meaning else column.name
    nulls = sum(cell is None for cell in cells)
    compared = column.name.endswith(_COMPARED)
    if nulls == len(cells) and not compared and _is_metric(meaning, evidence):
        yield "null_only", "error", f"{label} has no value at all"
    elif nulls / len(cells) > MAX_NULL_SHARE and not compared:
        yield "null_dominant", "warning", f"{label} has no value in {nulls} of {len(cells)} rows"
    if any(_not_finite(cell) for cell in cells):
        yield "not_finite", "error", f"{label} holds values that are no number"
    if meaning is not None and meaning.role == "metric":
        yield from _metric_problems(meaning, column.type, cells)


def _is_zero(evidence: SqlEvidence) -> bool:
    """Whether a result is one row whose numbers are all zero."""
    numbers = [number for row in evidence.result.rows for cell in row if (number := as_number(cell)) is not None]
    return len(evidence.result.rows) == 1 and bool(numbers) and not any(numbers)


def _is_metric(meaning: ColumnMeaning | None, evidence: SqlEvidence) -> bool:
    return (meaning is not None and meaning.role == "metric") or len(evidence.result.columns) == 1


def _metric_problems(meaning: ColumnMeaning, kind: str, cells: Sequence[Any]) -> Iterator[tuple[str, str, str]]:
    numbers = [number for cell in cells if (number := as_number(cell)) is not None]
    if _NUMERIC_TYPES.match(kind) and any(isinstance(cell, str) for cell in cells):
        yield "type_mismatch", "error", f"{meaning.label} is declared {kind} and holds text"
    elif not numbers and any(cell is not None and as_day(cell) is None and not _not_finite(cell) for cell in cells):
        yield "type_mismatch", "error", f"{meaning.label} should be a number and is {kind}"
    if _cannot_be_negative(meaning.unit, meaning.label) and any(number < 0 for number in numbers):
        yield "negative", "error", f"{meaning.label} is negative, which it cannot be"


def _statement_problems(evidence: SqlEvidence, catalog: Catalog | None) -> Iterator[tuple[str, str, str]]:
    """What may be wrong with a statement that nobody verified."""
    result = evidence.result
    if result.own_limit is not None and result.row_count >= result.own_limit:
        yield "own_limit", "info", f"the statement itself asked for at most {result.own_limit:,} rows"
    duplicates = _duplicate_rows(evidence)
    if duplicates:
        yield "fan_out", "warning", f"{duplicates} rows repeat another one: a join may have multiplied rows"
    if catalog is not None and (reason := fan_out_risk(evidence, catalog)):
        yield "fan_out_risk", "warning", reason


def _not_finite(cell: Any) -> bool:
    if isinstance(cell, float):
        return not math.isfinite(cell)
    return isinstance(cell, Decimal) and not cell.is_finite()


def _cannot_be_negative(unit: str, label: str) -> bool:
    if re.search(r"change|difference|growth|margin|profit|previous", label, re.IGNORECASE):
        return False
    return unit.lower() in _NEVER_NEGATIVE or bool(re.match(r"(?:number|count) of\b|.*\bcount$", label, re.IGNORECASE))


def _duplicate_rows(evidence: SqlEvidence) -> int:
    if len(evidence.result.columns) < 2:
        return 0
    return len(evidence.result.rows) - len({tuple(map(repr, row)) for row in evidence.result.rows})


def fan_out_risk(evidence: SqlEvidence, catalog: Catalog) -> str | None:
    """Why a model's sum over joined tables may count rows more than once, None where it does not seem to.

    A table is multiplied where two others reference it side by side: each row of the one meets every row of the other.
    """
    import sqlglot  # noqa: PLC0415 - heavy
    from sqlglot import exp  # noqa: PLC0415 - heavy

    try:
        tree = sqlglot.parse_one(evidence.sql, dialect=catalog.dialect)
    except sqlglot.errors.SqlglotError:
        return None
    for select in tree.find_all(exp.Select):
        joined = [select.args.get("from_") or select.args.get("from"), *(select.args.get("joins") or [])]
        names = [part.this for part in joined if part is not None and isinstance(part.this, exp.Table)]
        if any(part.args.get("kind") == "CROSS" and isinstance(part.this, exp.Table) for part in joined[1:] if part):
            return "two tables are joined without a condition"
        if len(names) < 3 or not any(
            isinstance(node, exp.Sum | exp.Count | exp.Avg) for node in select.find_all(exp.AggFunc)
        ):
            continue
        tables = [_resolve(table, catalog) for table in names]
        for first, second in combinations([table for table in tables if table is not None], 2):
            shared = {key.target for key in first.foreign_keys} & {key.target for key in second.foreign_keys}
            shared &= {table.qualified_name for table in tables if table is not None}
            linked = any(key.target == second.qualified_name for key in first.foreign_keys) or any(
                key.target == first.qualified_name for key in second.foreign_keys
            )
            if shared and not linked:
                return f"{first.qualified_name} and {second.qualified_name} both multiply {sorted(shared)[0]}"
    return None


def _resolve(table: Any, catalog: Catalog) -> Any:
    names = [table.db] if table.db else list(catalog.search_path)
    return next((known for name in names if (known := catalog.table(f"{name}.{table.name}")) is not None), None)


def is_superseded(passage: Passage) -> bool:
    """Whether the passage's document says of itself that it is not in force any more."""
    status = str(passage.metadata.get("status", "")).strip().lower()
    return status in _SUPERSEDED or bool(passage.metadata.get("superseded_by"))


def is_successor(passage: Passage, other: Passage) -> bool:
    """Whether `other` says that this passage's document replaced it, by file name with or without its end, or by title.

    A document that is told by its source's name may be indexed in another format.
    """
    named = str(other.metadata.get("superseded_by", "")).rsplit("/", 1)[-1].strip().lower()
    if not named:
        return False
    file = PurePosixPath(passage.path.lower())
    return named in (file.name, file.stem, passage.title.lower()) or _stem(named) == file.stem


def _stem(name: str) -> str:
    return re.sub(r"\.[a-z]{1,5}$", "", name)


def document_day(passage: Passage) -> str:
    """The document's own date as ISO text, empty where it has none; for ordering and for words."""
    day = as_day(passage.metadata.get("date"))
    return day.isoformat() if day else ""


def validate_passages(question: str, passages: Sequence[Passage]) -> list[Finding]:
    """Findings on the passages that would be quoted: superseded documents, and documents that contradict another."""
    found = [
        Finding(
            code="superseded",
            severity="warning",
            message=f"{passage.title} ({document_day(passage) or 'no date'}) is superseded",
            marker=passage.marker or None,
        )
        for passage in passages
        if is_superseded(passage)
    ]
    for first, second in combinations(passages, 2):
        if first.document_id == second.document_id:
            continue
        difference = contradiction(question, first, second)
        if difference is not None:
            found.append(
                Finding(
                    code="contradiction",
                    severity="warning",
                    message=f"{_titled(first)} says {difference[0]}, {_titled(second)} says {difference[1]}",
                    marker=first.marker or None,
                )
            )
    return found


def _titled(passage: Passage) -> str:
    """The title with the document's day, and whether it is superseded: which of two holds is to be seen."""
    state = ", ".join(filter(None, (document_day(passage), "superseded" if is_superseded(passage) else "")))
    return f"{passage.title} ({state})" if state else passage.title


def contradiction(question: str, first: Passage, second: Passage) -> tuple[str, str] | None:
    """The two values where quotes of two documents give different ones for the same thing, None where they do not.

    Documents about different events or made with different parties say different things without contradiction.

    Two quotes speak of the same thing where they share most of the shorter one's words besides the values, and of the
    question's. Each must give exactly one kind of value that the other gives too (a percentage, a duration, a price).
    """
    if _of_its_own(question, first, second) or _of_its_own(question, second, first):
        return None
    asked = set(content_words(question)) - _ASKING
    for one in _sentences(first):
        for other in _sentences(second):
            # Where both say 40 connections, one of 36 and one of 300 are of something else; but not where what they
            # agree on is further from the question than these two are.
            near = min(len(_subject(one) & asked), len(_subject(other) & asked))
            agreed = _agreed(_near(first, asked, near), _near(second, asked, near))
            values = _different_values(one, other, agreed)
            if values is None:
                continue
            counted = set(content_words(f"{values[0]} {values[1]}"))
            left, right = _subject(one) - counted, _subject(other) - counted
            shared, about = left & right, asked - counted
            least = min(len(left), len(right))
            if least and (
                len(shared) / least >= MIN_AGREEMENT
                or (len(shared & about) >= 2 and len(shared & about) / len(about) >= MIN_ASKED)
            ):
                return values
    return None


def _of_its_own(question: str, one: Passage, other: Passage) -> bool:
    """Whether a document tells of an event, or of an agreement with somebody, that the other one does not speak of."""
    named = set(_IDENTIFIER.findall(one.title))
    if one.document_type in _EVENTS and not (named and named & set(_IDENTIFIER.findall(other.title))):
        return True
    text = f"{question} {other.title} {other.text}"
    return any(party.strip() not in text for party in _PARTY.findall(one.title))


def _near(passage: Passage, asked: set[str], least: int) -> list[str]:
    """Sentences of the quotes that hold at least so many of the words asked."""
    return [sentence for sentence in _sentences(passage) if len(_subject(sentence) & asked) >= least]


def _sentences(passage: Passage) -> list[str]:
    return [sentence for quote in passage.quotes for sentence in (split_sentences(quote) or [quote])]


def _subject(sentence: str) -> set[str]:
    return {word for word in content_words(sentence) if not any(character.isdigit() for character in word)}


def _agreed(first: Sequence[str], second: Sequence[str]) -> set[str]:
    """What both sides give the same value of."""
    one, other = (
        {(kind, value) for sentence in side for kind, values in _measures(sentence).items() for value in values}
        for side in (first, second)
    )
    return {kind for kind, _ in one & other}


def _different_values(first: str, second: str, agreed: set[str]) -> tuple[str, str] | None:
    one, other = _measures(first), _measures(second)
    for kind in sorted((set(one) & set(other)) - agreed):
        if not set(one[kind]) & set(other[kind]):
            return next(iter(one[kind].values())), next(iter(other[kind].values()))
    return None


def _measures(sentence: str) -> dict[str, dict[Decimal, str]]:
    """Values of a sentence by what they measure: `%`, the noun that follows, or a currency."""
    measures: dict[str, dict[Decimal, str]] = {}
    for mention in find_numbers(sentence):
        after = re.match(r"[\s-]*([A-Za-z]+)", sentence[mention.end :])
        noun = (after[1].lower().rstrip("s") if after else "") if not mention.percent else "%"
        if not noun or (len(noun) < 3 and noun != "%"):
            continue
        shown = mention.text if mention.percent or after is None else f"{mention.text} {after[1]}"
        measures.setdefault(noun, {})[mention.value] = shown
    return measures
