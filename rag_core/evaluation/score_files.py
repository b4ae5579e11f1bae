"""Files of scores: one JSON object a line, so that a run that was cut off goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from rag_core.datamodel.base import Record

ScoreRecord = TypeVar("ScoreRecord", bound=Record)


def read_scores(path: Path, kind: type[ScoreRecord]) -> list[ScoreRecord]:
    """The scores of one kind kept in a file, none where there is no file; a line that was cut off is left out."""
    if not path.exists():
        return []
    scores = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            scores.append(kind.model_validate(json.loads(line)))
        except ValueError:
            continue
    return scores


@contextmanager
def open_scores(path: Path) -> Iterator[Callable[[Record], None]]:
    """What adds a score to the end of a file, written at once; the file and its folders are made where they lack."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        if file.tell():
            file.write("\n")  # the last line may have been cut off

        def keep(score: Record) -> None:
            file.write(score.model_dump_json() + "\n")
            file.flush()

        yield keep
