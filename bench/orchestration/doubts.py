"""Doubt of document answers by halves of the facts: `python -m bench.orchestration.doubts`.

Each wording of a planted document fact is searched on the configured store and its quotes are chosen, once as found and
once with every passage taken out that holds what must be said, so that no right answer is left. Counted are right
answers that are doubted, wrong ones that are not, and answers without their passage that are not. The limit of
`workers.confidence` was set on the half `tuned`; `kept` was only run. A fact's half is that of its id's CRC-32.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from typing import Any

from bench.orchestration.run import cases
from rag_core.datamodel.evidence import Passage, SearchOutcome
from rag_core.datamodel.plan import SearchStep
from rag_core.wiring import open_services
from rag_core.workers.clauses import read_clauses
from rag_core.workers.units import split_units
from rag_core.workers.vector_worker import pick_quotes


def main() -> None:
    """Prints a table of counts by half."""
    counts: Counter[tuple[str, str]] = Counter()
    with open_services() as services:
        for kind, fact, question in cases(wordings=True):
            # A question of several parts is searched part by part, which is not what is counted here.
            if kind != "document" or len(read_clauses(question)) > 1:
                continue
            found = services.search.search(question)
            half = "tuned" if zlib.crc32(fact["id"].encode()) % 2 == 0 else "kept"
            for outcome in _judged(question, fact, found):
                counts[half, outcome] += 1
    print("| half | right | of them doubted | wrong | not doubted | without its passage | not doubted |")
    print("|---|---|---|---|---|---|---|")
    for half in ("tuned", "kept"):
        cells = []
        for name, shown in (("right", "doubted"), ("wrong", "trusted"), ("absent", "trusted")):
            total = counts[half, f"{name} doubted"] + counts[half, f"{name} trusted"]
            cells += [str(total), f"{counts[half, f'{name} {shown}']} ({counts[half, f'{name} {shown}'] / total:.0%})"]
        print(f"| {half} | {' | '.join(cells)} |")


def _judged(question: str, fact: dict[str, Any], found: SearchOutcome) -> list[str]:
    wanted = [_plain(phrase) for phrase in fact["must_contain"]]
    without = tuple(p for p in found.passages if not any(phrase in _plain(p.text) for phrase in wanted))
    outcomes = []
    if not found.null_signal and (said := _answer(question, found)) is not None:
        right = all(phrase in said[0] for phrase in wanted)
        outcomes.append(f"{'right' if right else 'wrong'} {said[1]}")
    if not found.null_signal and without:
        absent = _answer(question, found.model_copy(update={"passages": without}))
        outcomes += [f"absent {absent[1]}"] if absent is not None else []
    return outcomes


def _answer(question: str, found: SearchOutcome) -> tuple[str, str] | None:
    """What is quoted, as it reads, and `doubted` or `trusted`; None for nothing."""
    passages, _, doubt = pick_quotes(SearchStep(step_id="d1", task=question, query=question), found)
    told = [text for passage in passages for text in _shown(passage)]
    return (_plain(" ".join(told)), "doubted" if doubt else "trusted") if told else None


def _shown(passage: Passage) -> list[str]:
    units = {unit.verbatim: unit.shown for unit in split_units(passage.text)}
    return [f"{passage.title} {passage.metadata.get('date', '')} {units[q]} {q}" for q in passage.quotes if q in units]


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().lower()


if __name__ == "__main__":
    main()
