"""Proposes a patch of a batch file whose questions name renamed tables and columns; comments and layout stay. Pure.

A question in plain words names metrics, not columns, and needs no patch. Where its text does name a column, it is asked
under the new name, and its headline and expectations follow, since the result is then called so too.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection
from typing import Any

from ruamel.yaml.error import YAMLError

from rag_core.datamodel.catalog import Catalog
from rag_core.schema.patch import Patch, dump_yaml, layout_of
from rag_core.schema.renames import Renames
from rag_core.schema.rewrite import RepairFault

# A name as it stands in a sentence: parts joined by dots, not inside a longer word.
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*){0,2}(?![\w])")
_TEXTS = ("text", "title")
_COLUMNS = ("column", "other_column")


def propose_batch_patch(
    yaml_text: str,
    renames: Renames,
    *,
    now: Catalog,
    known: Collection[str] = (),
    name: str = "config/batches/batch.yaml",
) -> Patch:
    """The batch file with renamed tables and columns followed where its questions name them.

    Args:
        yaml_text: the file's text.
        renames: tables and columns by their earlier names.
        now: the present schema; a bare name that another column still has is for a person.
        known: names of metrics and dimensions: a question that says them does not mean the column.
        name: what the diff calls the file.

    Raises:
        RepairFault: the text is not the YAML of a batch file.
    """
    layout = layout_of(yaml_text)
    try:
        document = layout.load(yaml_text)
    except YAMLError as error:
        raise RepairFault(f"{name} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(document, dict) or not isinstance(document.get("questions"), list):
        raise RepairFault(f"{name} has no questions")
    follower = _Follower(renames, now, frozenset(known))
    for entry in document["questions"]:
        if isinstance(entry, dict):
            follower.follow(entry)
    text = dump_yaml(layout, document) if follower.edits else yaml_text
    diff = "".join(
        difflib.unified_diff(
            yaml_text.splitlines(keepends=True), text.splitlines(keepends=True), f"a/{name}", f"b/{name}"
        )
    )
    return Patch(text=text, diff=diff, edits=tuple(follower.edits), faults=tuple(follower.faults))


class _Follower:
    """Edits the entries of a loaded document in place."""

    def __init__(self, renames: Renames, now: Catalog, known: frozenset[str]) -> None:
        self._renames = renames
        self._known = known
        self._held = {column.name for table in now.tables for column in table.columns}
        self._tables = {table.name for table in now.tables}
        self.edits: list[tuple[str, str, str]] = []
        self.faults: list[tuple[str, str]] = []

    def follow(self, entry: dict[str, Any]) -> None:
        """Follows the renames in one question."""
        key = f"questions.{entry.get('question_id', '')}"
        followed: dict[str, str] = {}
        for field in _TEXTS:
            if isinstance(entry.get(field), str):
                new = _NAME.sub(lambda match: self._name(match[0], f"{key}.{field}", followed), entry[field])  # noqa: B023
                self._set(entry, field, f"{key}.{field}", new)
        if isinstance(entry.get("headline"), str):
            self._set(entry, "headline", f"{key}.headline", followed.get(entry["headline"], entry["headline"]))
        for expectation in entry.get("expectations") or []:
            for field in _COLUMNS:
                value = expectation.get(field) if isinstance(expectation, dict) else None
                if isinstance(value, str):
                    self._set(expectation, field, f"{key}.expectations", followed.get(value, value))

    def _name(self, written: str, key: str, followed: dict[str, str]) -> str:
        """What a name in a sentence is now; the name itself where it means nothing renamed."""
        parts = written.split(".")
        if len(parts) == 1:
            return self._bare(written, key, followed)
        for (table, old), new in self._renames.columns.items():
            if written in (f"{table}.{old}", f"{table.partition('.')[2]}.{old}"):
                followed[old] = new
                later = self._renames.table(table)
                return f"{later if len(parts) == 3 else later.partition('.')[2]}.{new}"
        return self._renames.tables.get(written, written)

    def _bare(self, written: str, key: str, followed: dict[str, str]) -> str:
        # A word of a sentence is no column; only what is written like one is.
        if "_" not in written or written in self._known:
            return written
        found = {new for (_, old), new in self._renames.columns.items() if old == written}
        found |= {
            new.partition(".")[2] for old, new in self._renames.tables.items() if old.partition(".")[2] == written
        }
        if not found:
            return written
        if len(found) > 1 or written in self._held or written in self._tables:
            self.faults.append((key, f"{written} is not the name of one thing only: write it with its table"))
            return written
        new = found.pop()
        followed[written] = new
        return new

    def _set(self, holder: dict[str, Any], field: str, key: str, new: str) -> None:
        old = holder[field]
        if str(old) == new:
            return
        self.edits.append((key, str(old), new))
        # The scalar keeps its style: quoted, folded, literal.
        holder[field] = type(old)(new) if type(old) is not str else new
