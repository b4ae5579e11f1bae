"""Reciprocal Rank Fusion: ranks of several legs joined into one order.

Source: Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
Methods" (SIGIR 2009): score(d) = sum over legs of weight / (k + rank).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

RRF_K = 60


@dataclass(frozen=True, slots=True)
class Fused:
    """One chunk after fusion; `raw` holds its score in each leg that found it."""

    key: int
    score: float
    raw: Mapping[str, float]


def fuse(
    legs: Mapping[str, Sequence[tuple[int, float]]], *, k: int = RRF_K, weights: Mapping[str, float] | None = None
) -> list[Fused]:
    """Joins the legs, best first; equal scores in the order of the key.

    Args:
        legs: name of a leg -> its (key, raw score), best first. All legs use the same key. Equal raw scores share the
            better rank, so that their order in the list does not matter.
        k: the constant of the method: the larger, the less the first ranks stand out.
        weights: of each leg, 1 where none is given.
    """
    scores: dict[int, float] = {}
    raw: dict[int, dict[str, float]] = {}
    for name in sorted(legs):
        weight = 1.0 if weights is None else weights.get(name, 1.0)
        rank = 0
        previous: float | None = None
        for position, (key, score) in enumerate(legs[name], start=1):
            if previous is None or score != previous:
                rank, previous = position, score
            if name in raw.setdefault(key, {}):
                continue
            raw[key][name] = score
            scores[key] = scores.get(key, 0.0) + weight / (k + rank)
    return [Fused(key, scores[key], raw[key]) for key in sorted(scores, key=lambda each: (-scores[each], each))]
