"""Proposes a patch of the semantic model file that follows renames; comments and layout stay. Pure."""

from __future__ import annotations

import difflib
import io
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError

from rag_core.datamodel.base import Record
from rag_core.datamodel.catalog import Catalog
from rag_core.policy.names import name_rules
from rag_core.policy.rules import split_name
from rag_core.schema.renames import Renames
from rag_core.schema.rewrite import RepairFault, rewrite_sql

# Longer than any line: the file's own line breaks stay.
_WIDTH = 1_000_000
# Gives an expression a table to stand on; it is never run.
_FRAME = "SELECT 1 FROM TABLE WHERE (EXPRESSION)"
_EXPRESSIONS = ("expression", "column", "valid_from", "valid_to")
_LAYOUTS = ((2, 4, 2), (2, 2, 0), (4, 6, 4), (4, 4, 0))


class Patch(Record):
    """A proposed file. `edits` are (key, before, after), `faults` (key, reason) for what a person must look at."""

    text: str
    diff: str
    edits: tuple[tuple[str, str, str], ...] = ()
    faults: tuple[tuple[str, str], ...] = ()


def propose_patch(
    yaml_text: str, renames: Renames, *, catalog: Catalog | None = None, name: str = "config/semantic_model.yaml"
) -> Patch:
    """The semantic model with renamed tables and columns followed.

    Args:
        yaml_text: the file's text.
        renames: tables and columns by their earlier names.
        catalog: the schema before the renames, to resolve bare columns of verified queries over several tables.
        name: what the diff calls the file.

    Raises:
        RepairFault: the text is not the YAML of a semantic model.
    """
    layout = layout_of(yaml_text)
    try:
        document = layout.load(yaml_text)
    except YAMLError as error:
        raise RepairFault(f"the semantic model is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(document, dict) or not isinstance(document.get("entities"), dict):
        raise RepairFault("the semantic model has no entities")
    patcher = _Patcher(document, renames, catalog)
    patcher.run()
    text = dump_yaml(layout, document) if patcher.edits else yaml_text
    diff = "".join(
        difflib.unified_diff(
            yaml_text.splitlines(keepends=True), text.splitlines(keepends=True), f"a/{name}", f"b/{name}"
        )
    )
    return Patch(text=text, diff=diff, edits=tuple(patcher.edits), faults=tuple(patcher.faults))


class _Patcher:
    """Edits a loaded document in place."""

    def __init__(self, document: dict[str, Any], renames: Renames, catalog: Catalog | None) -> None:
        self._document = document
        self._renames = renames
        self._catalog = catalog
        self._dialect = str(document.get("dialect", "postgres"))
        self._rules = name_rules(self._dialect)
        self._tables = {
            str(entity): ".".join(self._parts(str(content["table"])))
            for entity, content in document["entities"].items()
            if isinstance(content, dict) and "table" in content
        }
        self.edits: list[tuple[str, str, str]] = []
        self.faults: list[tuple[str, str]] = []

    def run(self) -> None:
        """Follows the renames in every section."""
        self._joins()
        for section in ("time_dimensions", "dimensions", "metrics"):
            for key, content in (self._document.get(section) or {}).items():
                self._definition(content, f"{section}.{key}")
        for key, query in (self._document.get("verified_queries") or {}).items():
            self._set(query, "sql", f"verified_queries.{key}.sql", self._statement(str(query.get("sql", "")), key))
        self._entities()

    def _entities(self) -> None:
        for entity, content in self._document["entities"].items():
            table = self._tables.get(str(entity))
            if table is None:
                continue
            keys = content.get("primary_key")
            if isinstance(keys, list):
                for index, column in enumerate(keys):
                    self._set(keys, index, f"entities.{entity}.primary_key", self._column(table, str(column)))
            new = self._renames.table(table)
            if new != table:
                written = ".".join(self._rules.written(part) for part in new.split(".", 1))
                self._set(content, "table", f"entities.{entity}.table", written)

    def _joins(self) -> None:
        for index, join in enumerate(self._document.get("joins") or []):
            here, there = self._tables.get(str(join.get("from"))), self._tables.get(str(join.get("to")))
            columns = join.get("columns")
            if here is None or there is None or not isinstance(columns, CommentedMap):
                continue
            for place, (left, right) in enumerate(list(columns.items())):
                key = f"joins.{index}.columns"
                self._set(columns, left, key, self._column(there, str(right)))
                new_left = self._column(here, str(left))
                if new_left != left:
                    value = columns.pop(left)
                    columns.insert(place, new_left, value)
                    self.edits.append((key, str(left), new_left))

    def _definition(self, content: Any, key: str) -> None:
        """A metric, dimension, date role or alternative: its expressions are over the columns of its entity."""
        if not isinstance(content, dict):
            return
        table = self._tables.get(str(content.get("entity")))
        if table is not None:
            for field in _EXPRESSIONS:
                if isinstance(content.get(field), str):
                    self._set(
                        content, field, f"{key}.{field}", self._expression(content[field], table, f"{key}.{field}")
                    )
            filters = content.get("filters")
            if isinstance(filters, list):
                for index, text in enumerate(filters):
                    new = self._expression(str(text), table, f"{key}.filters")
                    self._set(filters, index, f"{key}.filters", new)
            dialects = content.get("dialects")
            if isinstance(dialects, dict):
                for dialect, text in dialects.items():
                    new = self._expression(str(text), table, f"{key}.dialects", str(dialect))
                    self._set(dialects, dialect, f"{key}.dialects.{dialect}", new)
        for index, alternative in enumerate(content.get("alternatives") or []):
            self._definition(alternative, f"{key}.alternatives.{index}")

    def _expression(self, text: str, table: str, key: str, dialect: str | None = None) -> str:
        written = ".".join(self._rules.written(part) for part in table.split(".", 1))
        framed = _FRAME.replace("TABLE", written).replace("EXPRESSION", text)
        try:
            done = rewrite_sql(framed, dialect or self._dialect, self._renames, catalog=self._catalog)
        except RepairFault as fault:
            self.faults.append((key, str(fault)))
            return text
        return done.sql.split(" WHERE (", 1)[1][:-1]

    def _statement(self, sql: str, key: str) -> str:
        try:
            return rewrite_sql(sql, self._dialect, self._renames, catalog=self._catalog).sql
        except RepairFault as fault:
            self.faults.append((f"verified_queries.{key}.sql", str(fault)))
            return sql

    def _column(self, table: str, written: str) -> str:
        parts = self._parts(written)
        new = self._renames.column(table, parts[-1]) if len(parts) == 1 else parts[-1]
        return written if len(parts) != 1 or new == parts[0] else self._rules.written(new)

    def _parts(self, written: str) -> tuple[str, ...]:
        try:
            return split_name(written)
        except ValueError:
            return (written,)

    def _set(self, holder: Any, field: Any, key: str, new: str) -> None:
        old = holder.get(field) if isinstance(holder, dict) else holder[field]
        if old is None or str(old) == new:
            return
        self.edits.append((key, str(old), new))
        # The scalar keeps its style: quoted, folded, literal.
        holder[field] = type(old)(new) if type(old) is not str else new


def layout_of(text: str) -> YAML:
    """The reader and writer whose indents give the text back with the fewest changed lines."""
    best: tuple[int, int, YAML] | None = None
    for rank, (mapping, sequence, offset) in enumerate(_LAYOUTS):
        yaml = YAML()
        yaml.preserve_quotes = True
        yaml.width = _WIDTH
        yaml.indent(mapping=mapping, sequence=sequence, offset=offset)
        try:
            again = dump_yaml(yaml, yaml.load(text))
        except YAMLError:
            return yaml
        differing = sum(line[:1] in "+-" for line in difflib.ndiff(text.splitlines(), again.splitlines()))
        if best is None or differing < best[0]:
            best = (differing, rank, yaml)
        if differing == 0:
            break
    assert best is not None
    return best[2]


def dump_yaml(yaml: YAML, document: Any) -> str:
    """The document as text, in the layout of `layout_of`."""
    stream = io.StringIO()
    yaml.dump(document, stream)
    return stream.getvalue()
