"""Where questions are sent against where their answers are known to stand.

TAT-QA's annotators recorded whether an answer came from the table (`sql`), the text (`vector`) or both (`hybrid`).
Source: Zhu and others, TAT-QA: A Question Answering Benchmark on a Hybrid of Tabular and Textual Content, 2021.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rag_core.errors import ConfigurationError
from rag_core.workers.clauses import read_clauses

ROUTES = ("sql", "vector", "hybrid")
_FIGURE = re.compile(
    r"\b(?:how (?:much|many)|percent\w*|ratio|average|total|sum|number of|amount|change|increase|decrease|difference|"
    r"growth|proportion|higher|highest|largest|lowest|exceed\w*|between \d{4} and \d{4}|"
    r"(?:in|of|for|from) (?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_TEXT = re.compile(
    r"\b(?:why|how (?:is|are|was|were|does|do|did)|what (?:does|do|did)|where|who|according to|reasons?|due to|basis|"
    r"defin\w+|describe\w*|determin\w+|calculated|recogni[sz]ed|policy|method|include|consist)\b",
    re.IGNORECASE,
)


def route_by_words(question: str) -> str:
    """The route that the words alone suggest: figures to `sql`, what is written to `vector`, both to `hybrid`."""
    clauses = [clause.text for clause in read_clauses(question)]
    figure = any(_FIGURE.search(clause) and not _TEXT.search(clause) for clause in clauses)
    written = any(_TEXT.search(clause) for clause in clauses)
    if figure and written:
        return "hybrid"
    return "sql" if figure else "vector"


def read_routes(path: Path, *, sample: int = 0) -> list[tuple[str, str]]:
    """Questions with their gold routes; `sample` takes so many at even distances, 0 all.

    Raises ConfigurationError where the file is missing.
    """
    if not path.is_file():
        raise ConfigurationError(f"no questions at {path}")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    pairs = [(str(row["question"]), str(row["route"])) for row in rows]
    if 0 < sample < len(pairs):
        return [pairs[index * len(pairs) // sample] for index in range(sample)]
    return pairs


def measure_routes(
    questions: Sequence[tuple[str, str]],
    route: Callable[[str], str],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[dict[str, object]]:
    """A row a gold route with how its questions were sent, and one for all; shares of 1."""
    sent: Counter[tuple[str, str]] = Counter()
    for number, (question, gold) in enumerate(questions, start=1):
        sent[gold, route(question)] += 1
        if progress is not None:
            progress(number, len(questions))
    return [_row(gold, sent) for gold in (*ROUTES, "all")]


def _row(gold: str, sent: Mapping[tuple[str, str], int]) -> dict[str, object]:
    chosen = {key: count for key, count in sent.items() if gold in (key[0], "all")}
    total = sum(chosen.values())
    right = sum(count for (known, given), count in chosen.items() if known == given)
    to = {f"to_{name}": sum(count for (_, given), count in chosen.items() if given == name) for name in ROUTES}
    return {"gold": gold, "questions": total, "accuracy": round(right / total, 3) if total else None, **to}
