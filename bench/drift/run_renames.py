"""Precision and recall of unproven renames: `python -m bench.drift.run_renames [FILE]... [--values]`.

With `--values` each pair also has what its columns hold. The values are made up, from the pair's type and its place in
the file: those of a renamed column are the same but for one in twenty, those of another column are its own, from the
same kind of range. So they say what profiles can add, not what a warehouse holds.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from rag_core.schema.profiles import profile_of
from rag_core.schema.rename import RenameScore, RenameSubject, score_rename

THRESHOLD = 0.8
FOLDER = Path(__file__).parent
PAIRS = FOLDER / "rename_pairs.yaml"
ALL_PAIRS = (PAIRS, FOLDER / "rename_pairs_second.yaml", FOLDER / "rename_pairs_facts.yaml")
ROWS = 400


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
    places: dict[str, dict[str, Any]] = {
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


def with_values(
    pair: dict[str, Any], before: RenameSubject, after: RenameSubject, seed: int
) -> tuple[RenameSubject, RenameSubject]:
    """The two columns with made-up values."""
    dice = random.Random(seed)
    old = _draw(before.type, dice)
    new = [value if dice.random() > 0.05 else None for value in old] if pair["same"] else _draw(after.type, dice)
    return before.model_copy(update={"profile": profile_of(old)}), after.model_copy(update={"profile": profile_of(new)})


def _draw(kind: str, dice: random.Random) -> list[Any]:
    """Values of a column of this type: its own range, its own share of NULLs."""
    start, width, nulls = dice.randrange(50) * 100, dice.choice((50, 400, 3_000)), dice.choice((0.0, 0.1, 0.3))
    makers: tuple[tuple[str, Callable[[], Any]], ...] = (
        ("bool", lambda: dice.random() < 0.5),
        ("date", lambda: f"2025-{dice.randint(1, 12):02}-{dice.randint(1, 28):02}"),
        ("timestamp", lambda: f"2025-{dice.randint(1, 12):02}-{dice.randint(1, 28):02} {dice.randint(0, 23):02}:00"),
        ("numeric", lambda: round(start + dice.random() * width, 2)),
        ("int", lambda: start + dice.randrange(width)),
    )
    make = next((maker for name, maker in makers if name in kind), lambda: f"word {start + dice.randrange(width)}")
    return [None if dice.random() < nulls else make() for _ in range(ROWS)]


def measure(
    pairs: list[dict[str, Any]], *, values: bool = False
) -> tuple[float, float, list[tuple[dict[str, Any], RenameScore]]]:
    """Precision, recall, and the pairs that were judged wrongly with their scores."""
    judged = []
    for seed, pair in enumerate(pairs):
        before, after = subjects_of(pair)
        if values:
            before, after = with_values(pair, before, after, seed)
        judged.append((pair, score_rename(before, after)))
    proposed = [(pair, score) for pair, score in judged if score.score >= THRESHOLD and not score.vetoed]
    right = sum(pair["same"] for pair, _ in proposed)
    precision = right / len(proposed) if proposed else 0.0
    recall = right / sum(pair["same"] for pair in pairs)
    wrong = [(pair, score) for pair, score in judged if pair["same"] != (score.score >= THRESHOLD and not score.vetoed)]
    return precision, recall, wrong


def main() -> None:
    """Prints the figures and the mistakes."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--values"]
    values = "--values" in sys.argv[1:]
    for path in [Path(argument) for argument in arguments] or ALL_PAIRS:
        pairs = read_pairs(path)
        precision, recall, wrong = measure(pairs, values=values)
        true = sum(pair["same"] for pair in pairs)
        print(
            f"{path.name}: {len(pairs)} pairs, {true} true: "
            f"precision {precision:.3f}, recall {recall:.3f} at {THRESHOLD}"
        )
        for pair, score in wrong:
            kind = "missed" if pair["same"] else "false"
            print(f"  {kind}: {pair['before']} -> {pair['after']} {score.score} ({score.reason})")


if __name__ == "__main__":
    main()
