"""The planted facts: every question of the sample with a known answer, read from three files.

`facts.yaml` holds the numbers of the warehouse (`as_of`, `seed`, `warehouse`), `facts_ops.yaml` and
`facts_business.yaml` what the documents say. `where` names the source, its section and the words themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

Fact = dict[str, Any]

FOLDER = Path(__file__).parent
FILES = ("facts.yaml", "facts_ops.yaml", "facts_business.yaml")
LISTS = ("warehouse", "documents", "combined", "contradictions", "outdated")


def load_facts(folder: Path = FOLDER) -> dict[str, Any]:
    """One mapping with the five lists, and `as_of` and `seed` of the warehouse."""
    facts: dict[str, Any] = {name: [] for name in LISTS}
    for name in FILES:
        for key, value in read_facts(folder / name).items():
            if key in LISTS:
                facts[key].extend(value or [])
            else:
                facts[key] = value
    return facts


def read_facts(path: Path) -> dict[str, Any]:
    loaded = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    if not isinstance(loaded, dict):
        raise ValueError(f"{path}: not a mapping")
    return loaded


def iter_facts(facts: Mapping[str, Any]) -> Iterator[Fact]:
    for name in LISTS:
        yield from facts.get(name, [])


def iter_places(fact: Fact) -> Iterator[dict[str, str]]:
    """Every place in a document that a fact names; places in the warehouse have no `path`."""
    for key in ("where", "stale"):
        places = fact.get(key) or []
        yield from (place for place in places if isinstance(place, dict) and "path" in place)


def read_section(body: str, section: str) -> str | None:
    """The text below a heading, up to the next one of its level or higher; None without such a heading.

    The empty section is the text as a whole.
    """
    if not section:
        return body
    taken: list[str] | None = None
    level = 0
    for line in body.splitlines():
        heading = re.match(r"(#+)\s+(.*?)\s*$", line)
        if heading and taken is not None and len(heading[1]) <= level:
            break
        if taken is not None:
            taken.append(line)
        elif heading and heading[2] == section:
            taken, level = [], len(heading[1])
    return None if taken is None else "\n".join(taken)
