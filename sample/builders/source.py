"""One text source: YAML frontmatter and a Markdown body."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from sample.builders.blocks import Block, Heading, parse_blocks, plain

BUILD_KEYS = frozenset({"format", "layout"})
"""Frontmatter that steers the builder and never reaches a built file."""


@dataclass(frozen=True)
class Source:
    path: Path
    meta: dict[str, Any]
    body: str

    @property
    def format(self) -> str:
        return str(self.meta.get("format", "md"))

    @property
    def layout(self) -> str:
        return str(self.meta.get("layout", ""))

    @property
    def title(self) -> str:
        first = self._all_blocks[0] if self._all_blocks else None
        heading = plain(first.runs) if isinstance(first, Heading) and first.level == 1 else self.path.stem
        return str(self.meta.get("title") or heading)

    @property
    def owner(self) -> str:
        return str(self.meta.get("owner", "Larkspur Instruments"))

    @property
    def kind(self) -> str:
        return str(self.meta.get("document_type", "document")).replace("_", " ")

    @property
    def date(self) -> date:
        for key in ("date", "last_reviewed", "updated", "created"):
            value = self.meta.get(key)
            if isinstance(value, datetime):
                return value.date()
            if isinstance(value, date):
                return value
            if isinstance(value, str):
                return date.fromisoformat(value[:10])
        return date(2026, 6, 30)

    @property
    def byline(self) -> str:
        """The line below the title in formats that carry no frontmatter."""
        parts = [f"Owner: {self.owner}", f"Date: {self.date.isoformat()}"]
        if status := self.meta.get("status"):
            successor = self.meta.get("superseded_by")
            parts.append(f"Status: {status}" + (f" by {Path(str(successor)).stem}" if successor else ""))
        return " | ".join(parts)

    @property
    def public_meta(self) -> dict[str, Any]:
        return {key: value for key, value in self.meta.items() if key not in BUILD_KEYS}

    @cached_property
    def _all_blocks(self) -> list[Block]:
        return parse_blocks(self.body)

    @property
    def blocks(self) -> list[Block]:
        """The blocks without a first heading of level 1, which is the title again."""
        first = self._all_blocks[0] if self._all_blocks else None
        starts_with_title = isinstance(first, Heading) and first.level == 1
        return self._all_blocks[1:] if starts_with_title else self._all_blocks


def read_source(path: Path) -> Source:
    text = path.read_text(encoding="utf-8")
    if not text.startswith("---\n"):
        raise ValueError(f"{path}: no frontmatter")
    head, closed, body = text[4:].partition("\n---\n")
    if not closed:
        raise ValueError(f"{path}: the frontmatter is not closed")
    meta = YAML(typ="safe").load(head)
    if not isinstance(meta, dict):
        raise ValueError(f"{path}: the frontmatter is not a mapping")
    return Source(path, meta, body.lstrip("\n"))
