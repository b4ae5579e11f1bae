"""Planted facts answered without a chat model: `python -m bench.orchestration.run [--wordings] [--show]`.

Runs on the configured store and warehouse (the embedded sample by default; ingest its documents first). An answer
counts as right where every value of the fact stands in its result, or every phrase that must be said in its text; as
wrong where it is given as `answered` without them; else it abstained, under its status. No model judges.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

from rag_core.datamodel.answer import Answer
from rag_core.graph.build import Orchestrator
from rag_core.wiring import open_services
from sample.facts import load_facts

TOLERANCE = Decimal("1e-9")


def main() -> None:
    """Prints a table of counts, and each miss with `--show`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wordings", action="store_true", help="ask the paraphrases too")
    parser.add_argument("--show", action="store_true", help="print each question that was not answered rightly")
    options = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    misses: list[str] = []
    with open_services() as services:
        # Without a store no plan is kept, so that every question is planned anew.
        orchestrator = Orchestrator(
            warehouse=services.warehouse,
            guard=services.guard,
            catalog_cache=services.catalog_cache,
            semantic_model=services.semantic_model,
            values=services.values,
            search=services.search,
            embedder=services.embedder,
        )
        started = time.monotonic()
        for kind, fact, question in cases(wordings=options.wordings):
            answer = orchestrator.answer(question, run_date=services.run_date())
            verdict = judge(kind, fact, answer)
            counts[kind, verdict] += 1
            if verdict != "right":
                misses.append(f"{fact['id']} {verdict}: {question} -> {answer.text[:200]!r}")
        seconds = time.monotonic() - started
    print("| set | asked | right | wrong | abstained or partial |\n|---|---|---|---|---|")
    for kind in ("warehouse", "document", "combined"):
        total = sum(count for (found, _), count in counts.items() if found == kind)
        right, wrong = counts[kind, "right"], counts[kind, "wrong"]
        print(f"| {kind} | {total} | {right} ({right / total:.1%}) | {wrong} | {total - right - wrong} |")
    print(f"\n{sum(counts.values())} questions in {seconds:.1f} s")
    if options.show:
        print("\n".join(misses))


def cases(*, wordings: bool) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Kind, fact and question of everything that is asked."""
    facts = load_facts()
    groups = {
        "warehouse": facts["warehouse"],
        "document": [*facts["documents"], *facts["contradictions"], *facts["outdated"]],
        "combined": facts["combined"],
    }
    for kind, found in groups.items():
        for fact in found:
            if "question" in fact and (kind == "warehouse" or "must_contain" in fact):
                for question in [fact["question"], *(fact.get("wording") or [] if wordings else [])]:
                    yield kind, fact, question


def judge(kind: str, fact: dict[str, Any], answer: Answer) -> str:
    """`right`, `wrong`, or the status of an answer that claims less."""
    said = answer.status in ("answered", "partial")
    if kind == "warehouse":
        right = said and holds_values(fact["answer"], answer)
    else:
        right = said and all(_plain(phrase) in _plain(answer.text) for phrase in fact["must_contain"])
    if kind == "combined":
        right = right and any(citation.kind == "sql" for citation in answer.citations)
    if right:
        return "right"
    return "wrong" if answer.status == "answered" else answer.status


def holds_values(rows: list[dict[str, Any]], answer: Answer) -> bool:
    """Whether every value of the fact's rows stands in a result of the answer, rounded as the fact is."""
    cells = [cell for evidence in answer.sql for row in evidence.result.rows for cell in row]
    numbers = [number for number in map(_number, cells) if number is not None]
    texts = {_plain(cell) for cell in cells}
    return all(_stands(value, numbers, texts, answer.text) for row in rows for value in row.values())


def _stands(value: Any, numbers: list[Decimal], texts: set[str], text: str) -> bool:
    number = _number(value)
    if number is None:
        # Periods are dates in results: their first ten characters are the day.
        return value is None or _plain(value)[:10] in {known[:10] for known in texts} or _plain(value) in _plain(text)
    if isinstance(value, int) and 1990 < value < 2100:
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


if __name__ == "__main__":
    main()
