"""Scoring packed postings is exact: the same list as by the formula, ties and all."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest

from rag_core.retrieval.postings import DIGITS, Layout, Segment, score_blocks
from rag_core.retrieval.selection import Selection

NORM = (0.375, 0.0141)


def packed(values: list[int], code: str) -> bytes:
    return struct.pack(f">{len(values)}{code}", *values)


class Corpus:
    """Random chunks in several segments, and what the formula gives for them."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.lengths: dict[int, int] = {}
        self.documents: dict[int, int] = {}
        self.postings: dict[int, dict[int, int]] = {}
        self.gone: set[int] = set()
        numbers = sorted(draw.sample(range(1, 5_000), draw.randint(1, 400)))
        for number in numbers:
            # Few different lengths and frequencies: many chunks tie, at the cut too.
            self.lengths[number] = draw.choice([5, 5, 5, 40, 300, 70_000])
            self.documents[number] = draw.randint(1, 40)
            if draw.random() < 0.1:
                self.gone.add(number)
        for term in range(8):
            holding = draw.sample(numbers, draw.randint(0, len(numbers)))
            self.postings[term] = {number: draw.choice([1, 1, 1, 2, 32_767]) for number in sorted(holding)}
        cuts = sorted(draw.sample(range(len(numbers) + 1), min(3, len(numbers))))
        self.parts = [numbers[start:end] for start, end in zip([0, *cuts], [*cuts, len(numbers)], strict=True)]
        self.parts = [part for part in self.parts if part]
        self.weights = {term: draw.choice([0.1, 1.0, 2.5, 2.5, 9.7]) for term in range(8)}
        self.depth = draw.choice([1, 3, 10, 100, 1_000])

    def layout(self) -> Layout:
        segments = [
            Segment(
                place,
                np.asarray(part, dtype=np.int32),
                np.asarray([self.documents[number] for number in part], dtype=np.int32),
                np.asarray([self.lengths[number] for number in part], dtype=np.float64),
            )
            for place, part in enumerate(self.parts)
        ]
        gone = [np.flatnonzero([number in self.gone for number in part]) for part in self.parts]
        return Layout(tuple(segments), tuple(gone), 5_000, 0)

    def blocks(self) -> list[tuple[int, int, bytes, bytes]]:
        made = []
        for place, part in enumerate(self.parts):
            position = {number: at for at, number in enumerate(part)}
            for term, held in self.postings.items():
                inside = [number for number in part if number in held]
                if inside:
                    positions = packed([position[number] for number in inside], "h")
                    made.append((term, place, positions, packed([held[number] for number in inside], "h")))
        return made

    def expected(self, selected: set[int] | None) -> list[tuple[int, float]]:
        found = []
        for number, length in self.lengths.items():
            if number in self.gone or (selected is not None and self.documents[number] not in selected):
                continue
            score = 0.0
            for term, held in self.postings.items():
                if number in held:
                    frequency = held[number]
                    score += self.weights[term] * frequency / (frequency + NORM[0] + NORM[1] * length)
            if score:
                found.append((number, round(score, DIGITS)))
        return sorted(found, key=lambda each: (-each[1], each[0]))[: self.depth]


@pytest.mark.parametrize("seed", range(150))
def test_the_best_are_those_of_the_formula(seed: int) -> None:
    corpus = Corpus(seed)
    found = score_blocks(corpus.layout(), corpus.blocks(), corpus.weights, NORM, depth=corpus.depth, selection=None)
    assert found == corpus.expected(None)


@pytest.mark.parametrize("seed", range(60))
def test_the_best_of_a_selection_are_those_of_the_formula(seed: int) -> None:
    corpus = Corpus(seed)
    selected = set(random.Random(seed).sample(range(1, 41), random.Random(seed).choice([0, 1, 5, 30])))
    found = score_blocks(
        corpus.layout(),
        corpus.blocks(),
        corpus.weights,
        NORM,
        depth=corpus.depth,
        selection=Selection((("a", "b"),), sorted(selected), 0),
    )
    assert found == corpus.expected(selected)


def test_an_index_without_segments_gives_nothing() -> None:
    assert score_blocks(Layout((), (), 0, 0), [], {1: 1.0}, NORM, depth=10, selection=None) == []
