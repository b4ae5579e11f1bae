"""Batch files: `config/batches/<batch>.yaml` -> `Batch`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rag_core.batch.file import MAX_QUESTIONS, BatchFile, OwnersFile, QuestionEntry, expand_entry
from rag_core.connectors.yaml_files import YamlFault, first_of, load_model, plain, read_yaml
from rag_core.connectors.yaml_problems import Problem, line_of, list_problems
from rag_core.datamodel.question import IDENTIFIER, Batch, Question
from rag_core.errors import ConfigurationError

# What a batch may wait for beside other batches: the assets of the DAGs that come before.
BUILT_IN_SOURCES = ("documents", "warehouse_schema")
# Beside the folder of the batch files; optional.
OWNERS_FILE = "owners.yaml"
# A file of standing questions is written by people; whatever is larger is not one.
MAX_FILE_BYTES = 2_000_000
# Takes the place of keys that are not sound, while the rules that join the others are looked at.
_STAND_IN = {"title": "-", "owner": "-", "questions": [{"question_id": "a", "text": "---"}]}


def load_batch(path: Path | str) -> Batch:
    """The batch of one file, named after it. Raises ConfigurationError with file, line and key of the first mistake."""
    batch, problems = read_batch(path)
    if batch is None:
        raise ConfigurationError(first_of(problems))
    return batch


def read_batch(path: Path | str) -> tuple[Batch | None, tuple[Problem, ...]]:
    """The batch of one file and no problem, or None and all that is wrong with the file, in the order of the lines."""
    file = Path(path)
    if not re.match(IDENTIFIER, file.stem):
        named = "a batch is named after its file: use lower-case letters, digits and _, beginning with a letter"
        return None, (Problem(file=str(file), message=named),)
    if file.is_file() and file.stat().st_size > MAX_FILE_BYTES:
        return None, (Problem(file=str(file), message=f"a batch file may have at most {MAX_FILE_BYTES:,} bytes"),)
    try:
        content = read_yaml(file)
    except YamlFault as error:
        return None, (error.problem,)
    if not isinstance(content, dict):
        return None, (Problem(file=str(file), message="must be a mapping of keys and values"),)
    reading = _Reading(file, content)
    batch = reading.read()
    return batch, tuple(sorted(reading.problems, key=lambda problem: problem.line or 0))


class _Reading:
    """One look at one file, which goes on after a mistake: people mend a file once, not line by line."""

    def __init__(self, file: Path, content: dict[str, Any]) -> None:
        self.file = file
        self.content = content
        self.problems: list[Problem] = []

    def read(self) -> Batch | None:
        found = self._read_form()
        questions = self._expand(found.questions if found is not None else None)
        self._check_references(questions)
        self._check_owner()
        self._check_after()
        if found is None or self.problems:
            return None
        heads = found.model_dump(exclude={"questions"})
        return Batch(batch=self.file.stem, questions=tuple(questions.values()), **heads)

    def _say(self, location: Sequence[int | str], message: str) -> None:
        place = tuple(location)
        line = line_of(self.content, place)
        key = name_place(place, self.content)
        self.problems.append(Problem(file=str(self.file), line=line, key=key, message=message))

    def _read_form(self) -> BatchFile | None:
        content = plain(self.content)
        try:
            return BatchFile.model_validate(content)
        except ValidationError as error:
            self.problems += list_problems(self.file, self.content, error, BatchFile, name_key=name_place)
            # The rules that join several keys were not looked at: what is sound is, with stand-ins for the rest.
            broken = {str(item["loc"][0]) for item in error.errors(include_url=False) if item["loc"]}
        sound = {key: value for key, value in content.items() if key in BatchFile.model_fields and key not in broken}
        try:
            BatchFile.model_validate({**_STAND_IN, **sound})
        except ValidationError as error:
            known = {problem.message for problem in self.problems}
            joined = list_problems(self.file, self.content, error, BatchFile, name_key=name_place)
            self.problems += [problem for problem in joined if problem.message not in known]
        return None

    def _expand(self, sound: tuple[QuestionEntry, ...] | None) -> dict[str, Question]:
        """The questions by their ids; where the file is not sound, those of the entries that are by themselves."""
        questions: dict[str, Question] = {}
        for index, entry in enumerate(sound) if sound is not None else self._sound_entries():
            try:
                expanded = expand_entry(entry)
            except ValueError as error:
                self._say(("questions", index, "question_id"), str(error))
                continue
            for question in expanded:
                if question.question_id in questions:
                    twice = f"the question id {question.question_id} is used twice"
                    self._say(("questions", index, "question_id"), twice)
                else:
                    questions[question.question_id] = question
        if len(questions) > MAX_QUESTIONS:
            self._say(("questions",), f"{len(questions)} questions are more than the {MAX_QUESTIONS} of one batch")
        return questions

    def _sound_entries(self) -> Iterator[tuple[int, QuestionEntry]]:
        listed = plain(self.content.get("questions"))
        for index, value in enumerate(listed if isinstance(listed, list) else ()):
            try:
                yield index, QuestionEntry.model_validate(value)
            except ValidationError:
                continue  # told with the form

    def _check_references(self, questions: dict[str, Question]) -> None:
        """An expectation on another question names one that is there; ids of entries that are not sound count too."""
        listed = self.content.get("questions")
        entries = listed if isinstance(listed, list) else []
        written = {str(entry.get("question_id")) for entry in entries if isinstance(entry, dict)}
        for index, entry in enumerate(entries):
            expectations = entry.get("expectations") if isinstance(entry, dict) else None
            for number, wanted in enumerate(expectations if isinstance(expectations, list) else ()):
                other = wanted.get("question") if isinstance(wanted, dict) else None
                if isinstance(other, str) and other not in questions and other not in written:
                    self._say(
                        ("questions", index, "expectations", number, "question"),
                        f"the expectation {wanted.get('kind')} names the question {other}, "
                        "which the batch does not have",
                    )

    def _check_owner(self) -> None:
        known_file = self.file.absolute().parent.parent / OWNERS_FILE
        owner = self.content.get("owner")
        if not known_file.is_file() or not isinstance(owner, str) or not owner:
            return
        try:
            known = load_model(known_file, OwnersFile).owners
        except ConfigurationError as error:
            self._say(("owner",), f"cannot be looked up: {error}")
            return
        if owner not in known:
            self._say(("owner",), f"unknown owner {owner}: {known_file} has {', '.join(known)}; add the owner there")

    def _check_after(self) -> None:
        """What a batch waits for is there, and does not wait for the batch in turn: either would never run."""
        after = plain(self.content.get("after"))
        if not isinstance(after, list) or not all(isinstance(name, str) for name in after):
            return
        waits: dict[str, tuple[str, ...]] = {self.file.stem: tuple(after)}
        pending = list(after)
        while pending:
            name = pending.pop()
            if name in BUILT_IN_SOURCES or (name in waits and name != self.file.stem):
                continue
            other = self.file.parent / f"{name}.yaml"
            if name == self.file.stem or not other.is_file():
                problem = (
                    "waits for itself"
                    if name == self.file.stem
                    else f"waits for {name}, which is no batch of its folder"
                )
                self._say(("after",), f"the batch {problem}; it may wait for {self._waitable()}")
                return
            try:
                content = read_yaml(other)
            except YamlFault as error:
                self._say(("after",), f"the batch waits for {name}, and {error}")
                return
            found = content.get("after") if isinstance(content, dict) else None
            waits[name] = tuple(str(entry) for entry in found) if isinstance(found, list) else ()
            pending += waits[name]

    def _waitable(self) -> str:
        others = sorted(path.stem for path in self.file.parent.glob("*.yaml") if path.stem != self.file.stem)
        return ", ".join((*BUILT_IN_SOURCES, *others))


def name_place(location: Sequence[int | str], content: Any) -> str:
    """A place of a batch file as people name it: `question revenue_{region}, expectation 2, column`."""
    parts = list(location)
    words: list[str] = []
    if len(parts) >= 2 and parts[0] == "questions" and isinstance(parts[1], int):
        entry = content["questions"][parts[1]]
        given = entry.get("question_id") if isinstance(entry, dict) else None
        words.append(f"question {given}" if isinstance(given, str) else f"question {parts[1] + 1}")
        parts = parts[2:]
    for before, part in zip((None, *parts), parts, strict=False):
        if isinstance(part, int):
            words.append(f"expectation {part + 1}" if before == "expectations" else f"entry {part + 1}")
        elif part != "expectations" or part == parts[-1]:
            words.append(part)
    return ", ".join(words)


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
