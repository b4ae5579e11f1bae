"""Counts and an estimate, for people and for files."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from rich.console import Console

from ingestion.progress import IngestProgress, remaining_seconds, spoken_time


@pytest.mark.parametrize(
    ("done", "total", "seconds", "left"), [(0, 10, 5.0, None), (5, 10, 5.0, 5.0), (10, 10, 5.0, 0.0), (2, 8, 1.0, 3.0)]
)
def test_the_rest_takes_as_long_as_the_pace_says(done: int, total: int, seconds: float, left: float | None) -> None:
    assert remaining_seconds(done, total, seconds) == left


def test_times_are_told_in_the_unit_that_fits() -> None:
    assert [spoken_time(seconds) for seconds in (4.4, 89, 300, 9_000)] == ["4 s", "89 s", "5 min", "2.5 h"]


def told(steps: Iterator[float], *, terminal: bool) -> str:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=120)
    with IngestProgress(console, clock=lambda: next(steps)) as progress:
        for done in (1, 20, 40, 100):
            progress.update("documents", done, 100, f"{done * 3} embeddings")
    return stream.getvalue()


def test_a_file_gets_a_line_every_ten_seconds_with_counts_and_an_estimate() -> None:
    text = told(iter((0.0, 1.0, 11.0, 15.0, 30.0)), terminal=False)
    assert text.splitlines() == [
        "20 of 100 documents, 60 embeddings, about 40 s left",
        "100 of 100 documents, 300 embeddings",
    ]


def test_a_terminal_gets_a_bar() -> None:
    text = told(iter((0.0, 1.0, 11.0, 15.0, 30.0)), terminal=True)
    assert "Documents" in text
    assert "100/100" in text
    assert "300 embeddings" in text


def test_another_thing_that_is_counted_begins_a_new_estimate() -> None:
    stream = io.StringIO()
    steps = iter((0.0, 100.0, 110.0, 500.0, 510.0))
    progress = IngestProgress(Console(file=stream, width=120), clock=lambda: next(steps))
    for what, done in (("chunks", 1), ("chunks", 2), ("documents", 1), ("documents", 5)):
        progress.update(what, done, 10, "note")
    assert stream.getvalue().splitlines() == [
        "2 of 10 chunks, note, about 40 s left",
        "5 of 10 documents, note, about 10 s left",
    ]
