"""Batches that nobody keeps in a file: questions typed in, one a line, or pasted as CSV."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterable
from pathlib import Path

from rag_core.batch.file import check_text
from rag_core.datamodel.question import IDENTIFIER, Batch, Question
from rag_core.errors import ConfigurationError

MANUAL_BATCH = "manual"
MAX_MANUAL_QUESTIONS = 500
MAX_QUESTION_CHARACTERS = 2_000
# 500 questions of the longest kind, twice over: whatever is larger is no list of questions.
MAX_BYTES = 2_000_000
QUESTION_COLUMN, ID_COLUMN, TITLE_COLUMN = "question", "question_id", "title"


def batch_from_lines(text: str) -> Batch:
    """A batch of questions, one a line; a question's id comes from its text, so that a repeat is the same.

    Raises ConfigurationError with the number of the line that is no question.
    """
    _check_size(len(text.encode("utf-8", "replace")))
    return _batch((number, line, None, None) for number, line in enumerate(text.splitlines(), start=1))


def batch_from_csv(text: str) -> Batch:
    """A batch from CSV with a header that has the column `question`, and may have `question_id` and `title`.

    Commas, semicolons and tabs separate; a byte-order mark is no part of the header. Raises ConfigurationError with
    the row that is wrong.
    """
    _check_size(len(text.encode("utf-8", "replace")))
    text = text.removeprefix("\ufeff")
    header = text.splitlines()[0] if text.strip() else ""
    separator = max(",;\t", key=header.count)
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        fields = [(name or "").strip().lower() for name in reader.fieldnames or ()]
        if QUESTION_COLUMN not in fields:
            raise ConfigurationError(f"the CSV needs a column named {QUESTION_COLUMN}; its header has: {header[:200]}")
        reader.fieldnames = fields
        rows = [
            (number, row.get(QUESTION_COLUMN) or "", row.get(ID_COLUMN) or None, row.get(TITLE_COLUMN) or None)
            for number, row in enumerate(reader, start=2)
        ]
    except csv.Error as error:
        raise ConfigurationError(f"this is no CSV: {error}") from None
    return _batch(rows)


def batch_from_file(path: Path) -> Batch:
    """A batch from a file: `.csv` as CSV, anything else one question a line. Raises ConfigurationError."""
    try:
        _check_size(path.stat().st_size)
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{path} is not text in UTF-8") from None
    return batch_from_csv(text) if path.suffix.lower() == ".csv" else batch_from_lines(text)


def read_asked(text: str, *, format: str = "lines", file: str | None = None) -> Batch:
    """What the form of a manual run holds: a file's path, or lines or CSV that were pasted."""
    if file:
        return batch_from_file(Path(file))
    return batch_from_csv(text) if format == "csv" else batch_from_lines(text)


def _check_size(size: int) -> None:
    if size > MAX_BYTES:
        raise ConfigurationError(f"{size:,} bytes are no list of questions: at most {MAX_BYTES:,} are read")


def _batch(entries: Iterable[tuple[int, str, str | None, str | None]]) -> Batch:
    """Two spellings of one question are one question; the first is kept."""
    questions: dict[str, Question] = {}
    texts: set[str] = set()
    for number, raw, given, title in entries:
        text = " ".join(raw.split())
        if not text or text.lower() in texts:
            continue
        texts.add(text.lower())
        if not 3 <= len(text) <= MAX_QUESTION_CHARACTERS:
            raise ConfigurationError(
                f"question {number} has {len(text)} characters; 3 to {MAX_QUESTION_CHARACTERS} are allowed"
            )
        if len(questions) == MAX_MANUAL_QUESTIONS:
            raise ConfigurationError(f"there are more questions than the {MAX_MANUAL_QUESTIONS} of one run")
        question_id = given.strip() if given else f"q_{hashlib.sha256(text.lower().encode()).hexdigest()[:12]}"
        if not re.match(IDENTIFIER, question_id):
            raise ConfigurationError(f"question {number}: {question_id!r} is no id: use lower-case letters, digits, _")
        if question_id in questions:
            raise ConfigurationError(f"question {number}: the id {question_id} is used twice")
        try:
            questions[question_id] = Question(
                question_id=question_id, text=check_text(text), title=check_text(title.strip()) if title else None
            )
        except ValueError as error:
            raise ConfigurationError(f"question {number}: {error}") from None
    if not questions:
        raise ConfigurationError("there is no question: write one a line")
    return Batch(
        batch=MANUAL_BATCH, title="Questions asked by hand", owner="nightshift", questions=tuple(questions.values())
    )
