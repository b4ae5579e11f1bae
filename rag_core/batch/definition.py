"""Batch files: `config/batches/<batch>.yaml` -> `Batch`."""

from __future__ import annotations

import re
from pathlib import Path

from rag_core.batch.file import MAX_QUESTIONS, BatchFile, OwnersFile, expand_entry
from rag_core.connectors.yaml_files import line_of, load_model, read_yaml
from rag_core.datamodel.question import IDENTIFIER, Batch, Expectation, Question
from rag_core.errors import ConfigurationError

# What a batch may wait for beside other batches: the assets of the DAGs that come before.
BUILT_IN_SOURCES = ("documents", "warehouse_schema")
# Beside the folder of the batch files; optional.
OWNERS_FILE = "owners.yaml"
# A file of standing questions is written by people; whatever is larger is not one.
MAX_FILE_BYTES = 2_000_000


def load_batch(path: Path | str) -> Batch:
    """The batch of one file, named after it. Raises ConfigurationError with file, line and key."""
    file = Path(path)
    if not re.match(IDENTIFIER, file.stem):
        raise ConfigurationError(
            f"{file}: a batch is named after its file: use lower-case letters, digits and _, beginning with a letter"
        )
    if file.is_file() and file.stat().st_size > MAX_FILE_BYTES:
        raise ConfigurationError(f"{file}: a batch file may have at most {MAX_FILE_BYTES:,} bytes")
    found = load_model(file, BatchFile)
    _check_owner(file, found.owner)
    questions: dict[str, Question] = {}
    for index, entry in enumerate(found.questions):
        try:
            expanded = expand_entry(entry)
        except ValueError as error:
            raise ConfigurationError(f"{_where(file, index)}: {error}") from None
        for question in expanded:
            if question.question_id in questions:
                raise ConfigurationError(f"{_where(file, index)}: the question id {question.question_id} is used twice")
            questions[question.question_id] = question
    if len(questions) > MAX_QUESTIONS:
        raise ConfigurationError(f"{file}: {len(questions)} questions are more than the {MAX_QUESTIONS} of one batch")
    _check_references(file, questions)
    _check_after(file, found.after)
    heads = found.model_dump(exclude={"questions"})
    return Batch(batch=file.stem, questions=tuple(questions.values()), **heads)


def _check_owner(file: Path, owner: str) -> None:
    known_file = file.absolute().parent.parent / OWNERS_FILE
    if not known_file.is_file():
        return
    known = load_model(known_file, OwnersFile).owners
    if owner not in known:
        line = line_of(read_yaml(file), ["owner"])
        raise ConfigurationError(
            f"{file}:{line}: unknown owner {owner}: {known_file} has {', '.join(known)}; add the owner there"
        )


def _where(file: Path, index: int) -> str:
    return f"{file}:{line_of(read_yaml(file), ['questions', index, 'question_id'])}"


def _check_references(file: Path, questions: dict[str, Question]) -> None:
    for question in questions.values():
        for expectation in question.expectations:
            if expectation.question is not None and expectation.question not in questions:
                raise ConfigurationError(
                    f"{file}: {question.question_id}: {_name(expectation)} names the question "
                    f"{expectation.question}, which the batch does not have"
                )


def _check_after(file: Path, after: tuple[str, ...]) -> None:
    """What a batch waits for is there, and does not wait for the batch in turn: either would never run."""
    waits: dict[str, tuple[str, ...]] = {file.stem: after}
    pending = list(after)
    while pending:
        name = pending.pop()
        if name in BUILT_IN_SOURCES or (name in waits and name != file.stem):
            continue
        other = file.parent / f"{name}.yaml"
        if name == file.stem or not other.is_file():
            line = line_of(read_yaml(file), ["after"])
            problem = "waits for itself" if name == file.stem else f"waits for {name}, which is no batch of its folder"
            raise ConfigurationError(f"{file}:{line}: the batch {problem}; it may wait for {_waitable(file)}")
        content = read_yaml(other)
        found = content.get("after") if isinstance(content, dict) else None
        waits[name] = tuple(str(entry) for entry in found) if isinstance(found, list) else ()
        pending += waits[name]


def _waitable(file: Path) -> str:
    others = sorted(path.stem for path in file.parent.glob("*.yaml") if path.stem != file.stem)
    return ", ".join((*BUILT_IN_SOURCES, *others))


def _name(expectation: Expectation) -> str:
    return f"the expectation {expectation.kind}"


def load_batches(folder: Path) -> tuple[Batch, ...]:
    """All batches of a folder in order of their names. Raises ConfigurationError where there is none."""
    return tuple(load_batch(path) for path in batch_files(folder))


def batch_files(folder: Path) -> list[Path]:
    """The batch files of a folder in order of their names. Raises ConfigurationError where there is none."""
    if not folder.is_dir():
        raise ConfigurationError(f"{folder}: there is no such folder of batch files (NIGHTSHIFT_BATCH__FOLDER)")
    paths = sorted(folder.glob("*.yaml"))
    if not paths:
        raise ConfigurationError(f"{folder}: holds no batch file (*.yaml)")
    return paths


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
