"""Questions over tables and texts that nobody here wrote, with their answers: OTT-QA and TAT-QA.

OTT-QA: 100 tables of Wikipedia with the pages that they link to; every question needs both, and `route` says where the
answer itself stands. TAT-QA: financial reports, a table with its paragraphs each; a question names no company, so that
it is asked of its own report alone (`scope`), and `route` is where its annotators say that the answer comes from.
Sources: Chen and others, Open Question Answering over Tables and Text, 2021; Zhu and others, TAT-QA: A Question
Answering Benchmark on a Hybrid of Tabular and Textual Content, 2021.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from rag_core.datamodel.base import Record
from rag_core.errors import ConfigurationError

SETS = ("ottqa", "tatqa")
ROUTES = ("table", "text", "both")
FOLDERS = {"ottqa": "ottqa_hybrid", "tatqa": "tatqa_hybrid"}
_PREFIXES = {"ottqa": "", "tatqa": "dev_"}

Route = Literal["table", "text", "both"]
_TATQA_ROUTES: dict[str, Route] = {"sql": "table", "vector": "text", "hybrid": "both"}


class HybridQuestion(Record):
    """A question with the parts of its answer as they are written; of a list all are wanted, in any order.

    `number` says that the one part is a computed figure; `scale` is empty, thousand, million, billion or percent.
    `table` is the one that it was written about; where it is asked of this one alone, `scope` names it too.
    """

    question_id: str
    text: str
    route: Route
    gold: tuple[str, ...]
    number: bool = False
    scale: str = ""
    table: str = ""
    scope: str = ""


class HybridText(Record):
    """A document of a set: its key, title and text (paragraphs apart by an empty line), and the tables it goes with."""

    key: str
    title: str
    text: str
    tables: tuple[str, ...]


def read_questions(name: str, data: Path) -> list[HybridQuestion]:
    """All questions of a set in the order of its file. Raises ConfigurationError where the file is missing."""
    read = _ottqa_question if name == "ottqa" else _tatqa_question
    return [read(row) for row in _rows(_file(name, data, "questions.jsonl"))]


def read_texts(name: str, data: Path) -> list[HybridText]:
    """All texts of a set; the paragraphs of a financial report are one text. Raises ConfigurationError as above."""
    rows = _rows(_file(name, data, "documents.jsonl"))
    if name == "ottqa":
        return [
            HybridText(
                key=str(row["doc_id"]).lstrip("/"),
                title=str(row["title"]),
                text=str(row["text"]),
                tables=tuple(row["linked_tables"]),
            )
            for row in rows
        ]
    reports: dict[str, list[str]] = {}
    for row in rows:
        reports.setdefault(str(row["context_id"]), []).append(str(row["text"]))
    return [
        HybridText(key=report, title=f"Report {report}", text="\n\n".join(paragraphs), tables=(report,))
        for report, paragraphs in reports.items()
    ]


def tables_file(name: str, data: Path) -> Path:
    """The SQL file of a set's tables. Raises ConfigurationError where it is missing."""
    return _file(name, data, "schema_and_rows.sql")


def sample_questions(questions: Sequence[HybridQuestion], size: int, *, seed: int = 0) -> list[HybridQuestion]:
    """So many questions, of each route its share, at even distances over their ids; all for 0.

    Ids say nothing of what is asked. `seed` moves the first one on, so that another seed gives another sample.
    """
    if not size or size >= len(questions):
        return list(questions)
    ordered = sorted(questions, key=lambda item: (item.route, item.number, item.question_id))
    return [ordered[(seed + place * len(ordered) // size) % len(ordered)] for place in range(size)]


def _ottqa_question(row: dict[str, Any]) -> HybridQuestion:
    places = set(row["answer_location"])
    route: Route = "both" if len(places) > 1 else "table" if "table" in places else "text"
    return HybridQuestion(
        question_id=str(row["id"]),
        text=str(row["question"]).strip(),
        route=route,
        gold=(str(row["answer"]),),
        table=str(row["table"]).rpartition(".")[2],
    )


def _tatqa_question(row: dict[str, Any]) -> HybridQuestion:
    answer = row["answer"]
    return HybridQuestion(
        question_id=str(row["id"]),
        text=str(row["question"]).strip(),
        route=_TATQA_ROUTES[row["route"]],
        gold=tuple(str(part) for part in (answer if isinstance(answer, list) else [answer])),
        number=row["answer_type"] in ("arithmetic", "count"),
        scale=str(row["scale"]),
        table=str(row["context_id"]),
        scope=str(row["context_id"]),
    )


def _file(name: str, data: Path, ending: str) -> Path:
    path = data / FOLDERS[name] / f"{_PREFIXES[name]}{ending}"
    if not path.is_file():
        raise ConfigurationError(f"the set {name} needs {path}: say with --data where it lies")
    return path


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)
