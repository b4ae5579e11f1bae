"""Precision and recall of unproven renames over rename_pairs.yaml: `python -m bench.drift.run_renames [FILE]`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from rag_core.schema.rename import RenameScore, RenameSubject, score_rename

THRESHOLD = 0.8
PAIRS = Path(__file__).parent / "rename_pairs.yaml"


def read_pairs(path: Path = PAIRS) -> list[dict[str, Any]]:
    """The pairs of a file, as plain values."""
    content = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    pairs: list[dict[str, Any]] = content["pairs"]
    return pairs


def subjects_of(pair: dict[str, Any]) -> tuple[RenameSubject, RenameSubject]:
    """The two columns with the surroundings that `slot` stands for."""

    def both(name: str) -> tuple[Any, Any]:
        value = pair.get(name)
        return (value[0], value[1]) if isinstance(value, list) else (value, value)

    types, comments = both("type"), both("comment")
    places = {
        "same": {"previous": "a", "next": "b", "place": 4},
        "one": {"previous": "a", "next": "x", "place": 5},
        "end": {"previous": "z", "next": None, "place": 12},
    }
    before = RenameSubject(
        name=pair["before"], type=types[0], comment=comments[0], table=pair["table"], previous="a", next="b", place=4
    )
    after = RenameSubject(
        name=pair["after"], type=types[1], comment=comments[1], table=pair["table"], **places[pair["slot"]]
    )
    return before, after


def measure(pairs: list[dict[str, Any]]) -> tuple[float, float, list[tuple[dict[str, Any], RenameScore]]]:
    """Precision, recall, and the pairs that were judged wrongly with their scores."""
    judged = [(pair, score_rename(*subjects_of(pair))) for pair in pairs]
    proposed = [(pair, score) for pair, score in judged if score.score >= THRESHOLD and not score.vetoed]
    right = sum(pair["same"] for pair, _ in proposed)
    precision = right / len(proposed) if proposed else 0.0
    recall = right / sum(pair["same"] for pair in pairs)
    wrong = [(pair, score) for pair, score in judged if pair["same"] != (score.score >= THRESHOLD and not score.vetoed)]
    return precision, recall, wrong


def main() -> None:
    """Prints the figures and the mistakes."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    pairs = read_pairs(path)
    precision, recall, wrong = measure(pairs)
    true = sum(pair["same"] for pair in pairs)
    print(f"{len(pairs)} pairs, {true} true: precision {precision:.3f}, recall {recall:.3f} at {THRESHOLD}")
    for pair, score in wrong:
        kind = "missed" if pair["same"] else "false"
        print(f"{kind}: {pair['before']} -> {pair['after']} {score.score} ({score.reason})")


if __name__ == "__main__":
    main()
