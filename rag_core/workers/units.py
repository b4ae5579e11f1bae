"""Cuts a passage into pieces that can be quoted: sentences, list items, table rows, records and command lines. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from rag_core.workers.words import split_sentences

KEPT_PASSAGES = 2_048

UnitKind = Literal["sentence", "item", "row", "record", "code"]

_LIST_ITEM = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+(?P<text>.+)$")
_TABLE_ROW = re.compile(r"^\s*\|(?P<cells>.+)\|\s*$")
_TABLE_RULE = re.compile(r"^\s*\|[\s|:-]+\|\s*$")
_FENCE = re.compile(r"^\s*(?:```|~~~)\s*(?P<language>\w*)")
_RECORD = re.compile(r"^\s*(?P<dash>- )?(?P<key>[A-Za-z_][\w .-]{0,60}):\s+(?P<value>\S.*)$")
_PATH = re.compile(r"^(?P<parent>[A-Za-z_][\w.\[\]-]*)\.(?P<key>[\w -]+):\s*(?P<value>.*)$")
_LEANS = re.compile(
    r"(?:That|This|These|Those|It|They|He|She|Their|Its|Such|So|Therefore|Both|Then|After that|Before that|Only then|"
    r"Instead|Otherwise|From then|Until then|Since then|By then|Eleven of them|Neither)\b"
)
# Words inside a sentence that carry on from the one before it.
_FOLLOWS = re.compile(r"\b(?:therefore|hence|thus|as a result|for that reason)\b", re.IGNORECASE)
_EMPHASIS = re.compile(r"(\*\*|__|`)")


@dataclass(frozen=True, slots=True)
class Unit:
    """A quotable piece. `shown` is how it reads in an answer; each of its words stands in `verbatim`.

    `verbatim` is text of the passage, lines of one record joined by a line break; `order` counts within the passage;
    `heading` is the nearest heading above it in the passage, empty for none.
    """

    shown: str
    verbatim: str
    kind: UnitKind
    order: int
    heading: str = ""


class _Collector:
    """Walks over the lines of a passage once."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self.paragraph: list[str] = []
        self.header: list[str] = []
        self.record: list[tuple[str, str]] = []
        self.parent = ""
        self.heading = ""

    def add(self, shown: str, verbatim: str, kind: UnitKind) -> None:
        clean = _EMPHASIS.sub("", shown).strip()
        if any(character.isalnum() for character in clean):
            self.units.append(Unit(clean, verbatim, kind, len(self.units), self.heading))

    def close_paragraph(self) -> None:
        self.add_prose(" ".join(self.paragraph), "sentence")
        self.paragraph.clear()

    def add_prose(self, text: str, kind: UnitKind) -> None:
        """Sentences; one that leans on the sentence before ("That is why ...") is told together with it."""
        before = ""
        for sentence in split_sentences(text):
            whole = (
                f"{before} {sentence}" if before and (_LEANS.match(sentence) or _FOLLOWS.search(sentence)) else sentence
            )
            self.add(whole, whole, kind)
            before = sentence

    def close_record(self) -> None:
        if self.record:
            shown = "; ".join(shown for shown, _ in self.record)
            self.add(shown, "\n".join(line for _, line in self.record), "record")
        self.record.clear()
        self.parent = ""

    def close(self) -> None:
        self.close_paragraph()
        self.close_record()

    def read_row(self, line: str, cells: list[str]) -> None:
        self.close()
        if not self.header:
            self.header = cells
            return
        pairs = zip(self.header, cells, strict=False)
        shown = "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)
        self.add(shown, line.strip(), "row")

    def read_item(self, text: str) -> None:
        """A list item; items that are one record of a flattened file (`a[0].b: …`, `a[0].c: …`) stay together."""
        self.close_paragraph()
        path = _PATH.match(text)
        if path is None:
            self.close_record()
            self.add_prose(text, "item")
            return
        if path["parent"] != self.parent:
            self.close_record()
            self.parent = path["parent"]
        self.record.append((f"{path['key'].replace('_', ' ')}: {path['value']}", text))

    def read_code(self, line: str, language: str) -> None:
        record = _RECORD.match(line) if language in ("yaml", "yml", "") else None
        if record is None:
            self.close_record()
            self.add(line.strip(), line.strip(), "code")
            return
        indented = line.startswith(" ") and not record["dash"]
        if not indented:
            self.close_record()
        self.record.append((f"{record['key'].replace('_', ' ')}: {record['value']}", line.strip()))


def split_units(text: str) -> list[Unit]:
    """The units of a passage in order. Headings and rules are none; a table's header is told with each of its rows."""
    return list(_split_units(text))


# One passage is found by many questions of a batch, and cut again where it is quoted and where it is judged.
@lru_cache(maxsize=KEPT_PASSAGES)
def _split_units(text: str) -> tuple[Unit, ...]:
    found = _Collector()
    language: str | None = None
    for line in text.splitlines():
        stripped = line.strip()
        if fence := _FENCE.match(line):
            found.close()
            language = fence["language"].lower() if language is None else None
            continue
        if language is not None:
            found.read_code(line, language)
            continue
        row = _TABLE_ROW.match(line)
        if row is None:
            found.header = []
        if not stripped or stripped.startswith("#"):
            found.close()
            found.heading = _EMPHASIS.sub("", stripped.lstrip("# ")) or found.heading
        elif _TABLE_RULE.match(line):
            continue
        elif row is not None:
            found.read_row(line, [cell.strip() for cell in re.split(r"(?<!\\)\|", row["cells"])])
        elif item := _LIST_ITEM.match(line):
            found.read_item(item["text"].strip())
        else:
            found.close_record()
            found.paragraph.append(stripped)
    found.close()
    return tuple(found.units)
