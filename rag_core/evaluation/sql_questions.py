"""Questions over databases with the statements that answer them, and some that no statement answers.

In a gold cell several statements may stand, separated by `;`, and `{a, b}` means that any choice of those columns is
right.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from rag_core.datamodel.base import Record

ANSWERABLE = ("questions_gen_postgres", "instruct_basic_postgres", "instruct_advanced_postgres")
UNANSWERABLE = "idk"
_STATEMENT = re.compile(r";\s*(?=(?:SELECT|WITH|\(|$))", re.IGNORECASE)
_CHOICE = re.compile(r"\{([^{}]+)\}")


class SqlQuestion(Record):
    """A question of one database. `gold` are the statements that answer it, none where a refusal is right.

    `ordered` says that the order of the rows counts. `instructions` come with the question.
    """

    question_id: str
    database: str
    category: str
    text: str
    instructions: str = ""
    gold: tuple[str, ...] = ()
    ordered: bool = False

    @property
    def asked(self) -> str:
        """The question with its instructions, as everybody is asked."""
        return f"{self.text}\n{self.instructions}" if self.instructions else self.text


def read_questions(folder: Path) -> list[SqlQuestion]:
    """The 178 questions with gold statements for PostgreSQL, in the order of their files."""
    found = []
    for name in ANSWERABLE:
        for place, row in enumerate(_rows(folder / f"{name}.csv")):
            found.append(
                SqlQuestion(
                    question_id=f"{name.removesuffix('_postgres')}-{place}",
                    database=row["db_name"],
                    category=row["query_category"],
                    text=row["question"],
                    instructions=(row.get("instructions") or "").strip(),
                    gold=tuple(read_gold(row["query"])),
                    ordered=row["query_category"] == "order_by",
                )
            )
    return found


def read_unanswerable(folder: Path) -> list[SqlQuestion]:
    """The 45 questions that their database cannot answer; what words to refuse in is left out."""
    return [
        SqlQuestion(
            question_id=f"{UNANSWERABLE}-{place}",
            database=row["db_name"],
            category=row["query_category"],
            text=row["question"],
        )
        for place, row in enumerate(_rows(folder / f"{UNANSWERABLE}.csv"))
    ]


def read_gold(cell: str) -> Iterator[str]:
    """The statements of one cell, each choice of columns written out."""
    for part in _STATEMENT.split(cell.strip()):
        statement = part.strip().rstrip(";")
        choice = _CHOICE.search(statement)
        if choice is None:
            if statement:
                yield statement
            continue
        columns = [column.strip() for column in choice[1].split(",")]
        for size in range(1, len(columns) + 1):
            for chosen in itertools.combinations(columns, size):
                text = ", ".join(chosen)
                yield statement.replace(choice[0], text).replace("{}", text)


def sample_questions(questions: Sequence[SqlQuestion], size: int, *, seed: int = 0) -> list[SqlQuestion]:
    """So many questions, of each category its share, at even distances over its databases; all for 0.

    `seed` moves the first one on, so that another seed gives another sample. They come by database, so that the stable
    part of a prompt is read once.
    """
    if not size or size >= len(questions):
        chosen = list(questions)
    else:
        ordered = sorted(questions, key=lambda item: (item.category, item.database, item.question_id))
        chosen = [ordered[(seed + place * len(ordered) // size) % len(ordered)] for place in range(size)]
    return sorted(dict.fromkeys(chosen), key=lambda item: (item.database, item.category, item.question_id))


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
