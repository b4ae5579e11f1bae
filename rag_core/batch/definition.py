"""Batch files: `config/batches/<batch>.yaml` -> `Batch`."""

from __future__ import annotations

import hashlib
from pathlib import Path

from rag_core.connectors.yaml_files import load_model
from rag_core.datamodel.question import Batch, Question
from rag_core.errors import ConfigurationError

MANUAL_BATCH = "manual"
MAX_MANUAL_QUESTIONS = 500
MAX_QUESTION_CHARACTERS = 2_000


def load_batch(path: Path | str) -> Batch:
    """The batch of one file, named after it. Raises ConfigurationError with file, line and key."""
    file = Path(path)
    batch = load_model(file, Batch, extra={"batch": file.stem})
    seen: set[str] = set()
    for question in batch.questions:
        if question.question_id in seen:
            raise ConfigurationError(f"{file}: the question id {question.question_id} is used twice")
        seen.add(question.question_id)
    return batch


def load_batches(folder: Path) -> tuple[Batch, ...]:
    """All batches of a folder in order of their names. Raises ConfigurationError where there is none."""
    paths = sorted(folder.glob("*.yaml"))
    if not paths:
        raise ConfigurationError(f"{folder}: holds no batch file (*.yaml)")
    return tuple(load_batch(path) for path in paths)


def find_batch(name_or_path: str, folder: Path) -> Batch:
    """A batch by its name in `folder` or by the path of its file."""
    path = Path(name_or_path)
    if path.suffix in {".yaml", ".yml"}:
        return load_batch(path)
    candidate = folder / f"{name_or_path}.yaml"
    if not candidate.exists():
        known = ", ".join(sorted(file.stem for file in folder.glob("*.yaml"))) or "none"
        raise ConfigurationError(f"there is no batch {name_or_path} in {folder}; it holds: {known}")
    return load_batch(candidate)


def batch_from_lines(text: str) -> Batch:
    """A batch of pasted questions, one a line; a question's id comes from its text, so that a repeat is the same."""
    lines = list(dict.fromkeys(" ".join(line.split()) for line in text.splitlines() if line.strip()))
    if not lines:
        raise ConfigurationError("there is no question: write one a line")
    if len(lines) > MAX_MANUAL_QUESTIONS:
        raise ConfigurationError(f"{len(lines)} questions are more than the {MAX_MANUAL_QUESTIONS} of one run")
    for number, line in enumerate(lines, start=1):
        if not 3 <= len(line) <= MAX_QUESTION_CHARACTERS:
            raise ConfigurationError(
                f"question {number} has {len(line)} characters; 3 to {MAX_QUESTION_CHARACTERS} are allowed"
            )
    questions = tuple(
        Question(question_id=f"q_{hashlib.sha256(line.lower().encode()).hexdigest()[:12]}", text=line) for line in lines
    )
    return Batch(batch=MANUAL_BATCH, title="Questions asked by hand", owner="nightshift", questions=questions)
