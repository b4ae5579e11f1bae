"""The warehouse policy: what questions may touch. Read from YAML; what does not parse lets nothing through."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationError, field_validator
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from rag_core.datamodel.base import Record
from rag_core.datamodel.drift import DriftRules
from rag_core.datamodel.query import Limits
from rag_core.errors import ConfigurationError

_PART = re.compile(r'\s*(?:"(?P<quoted>(?:[^"]|"")+)"|(?P<plain>[^".\s]+))\s*(?P<dot>\.|$)')


def split_name(name: str) -> tuple[str, ...]:
    """The parts of a dotted name, with the quotes of quoted parts taken off. Raises ValueError."""
    parts: list[str] = []
    position = 0
    while True:
        match = _PART.match(name, position)
        if match is None:
            raise ValueError(f"{name!r} is not a dotted name")
        parts.append(match["plain"] or match["quoted"].replace('""', '"'))
        position = match.end()
        if match["dot"] == "":
            return tuple(parts)
        if position == len(name):
            raise ValueError(f"{name!r} ends with a dot")


def _table_name(name: str) -> str:
    if len(split_name(name)) != 2:
        raise ValueError(f"{name!r} must be schema.table")
    return name


def _column_name(name: str) -> str:
    if len(split_name(name)) != 3:
        raise ValueError(f"{name!r} must be schema.table.column")
    return name


def _plain_column_name(name: str) -> str:
    if "*" in name:
        raise ValueError(f"{name!r} must name one column, without *")
    return _column_name(name)


TableName = Annotated[str, AfterValidator(_table_name)]
ColumnName = Annotated[str, AfterValidator(_column_name)]
PlainColumnName = Annotated[str, AfterValidator(_plain_column_name)]


class TableRules(Record):
    """Patterns of `schema.table` with `*` for any characters. Exclusion wins."""

    include: tuple[TableName, ...] = ("*.*",)
    exclude: tuple[TableName, ...] = ()


class ColumnMask(Record):
    """A column whose values are replaced before a statement can see them: by NULL, or by a fixed text."""

    column: ColumnName
    replace_with: str | None = None


class ColumnRules(Record):
    """Patterns of `schema.table.column`: excluded ones do not exist for questions, masked ones hold no value.

    A generated column that is computed from either does not exist either, unless it stands under `show`.
    """

    exclude: tuple[ColumnName, ...] = ()
    mask: tuple[ColumnMask, ...] = ()
    show: tuple[PlainColumnName, ...] = ()


class RowFilter(Record):
    """A condition, in the warehouse's SQL, that rows of a table must meet to be seen, such as one tenant's rows."""

    table: TableName
    where: str = Field(min_length=1)


class FunctionRules(Record):
    """Names of functions to allow or refuse besides what their volatility decides. Refusal wins."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


class JoinRule(Record):
    """A pair of columns that must not be joined on before somebody approves it."""

    left: ColumnName
    right: ColumnName


class JoinRules(Record):
    """Joins that need approval."""

    need_approval: tuple[JoinRule, ...] = ()


class Policy(Record):
    """What may be read of a warehouse, and under which limits.

    Names are compared without regard to case. An empty `schemas` allows nothing at all.
    """

    version: Literal[1]
    schemas: tuple[str, ...]
    tables: TableRules = TableRules()
    columns: ColumnRules = ColumnRules()
    row_filters: tuple[RowFilter, ...] = ()
    functions: FunctionRules = FunctionRules()
    limits: Limits = Limits()
    joins: JoinRules = JoinRules()
    drift: DriftRules = DriftRules()

    @field_validator("limits")
    @classmethod
    def _positive_limits(cls, limits: Limits) -> Limits:
        if limits.max_rows < 1 or limits.max_bytes < 1 or not 0 < limits.timeout_seconds < math.inf:
            raise ValueError("max_rows, max_bytes and timeout_seconds must be greater than zero")
        return limits


def policy_schema() -> dict[str, Any]:
    """The JSON schema of policy files, for editors; `config/schemas/schema_policy.schema.json` holds it."""
    schema = Policy.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Nightshift schema policy"}


def load_policy(path: Path) -> Policy:
    """Reads a policy file.

    Raises ConfigurationError with one line that names the file, the line and the key. There is no fall-back: without a
    policy nothing is allowed.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise ConfigurationError(f"policy {path} cannot be read: {reason}") from error
    try:
        document = YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark is not None else 1
        reason = str(error.problem).split("\n")[0]
        raise ConfigurationError(f"policy {path}, line {line}: {reason}") from error
    except YAMLError as error:
        raise ConfigurationError(f"policy {path} is not YAML: {error}") from error
    if not isinstance(document, Mapping):
        raise ConfigurationError(f"policy {path}, line 1: must be a mapping that begins with `version: 1`")
    try:
        policy = Policy.model_validate(_plain(document))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        line = _line_of(document, first["loc"])
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigurationError(f"policy {path}, line {line}, {key}: {_reason(first['msg'])}") from error
    for name, value in (("schemas", policy.schemas), ("tables.include", policy.tables.include)):
        if not value:
            line = _line_of(document, tuple(name.split(".")))
            raise ConfigurationError(f"policy {path}, line {line}, {name}: is empty, so that nothing would be allowed")
    return policy


def _plain(value: Any) -> Any:
    """The document without the position-keeping types, so that validation sees plain values."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(_plain(item) for item in value)
    if isinstance(value, bool) or value is None:
        return value
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    return value


def _line_of(document: Any, location: tuple[int | str, ...]) -> int:
    """Line (from 1) of the deepest part of a location that stands in the document."""
    line = 1
    node = document
    for part in location:
        try:
            mark = node.lc.item(part) if isinstance(part, int) else node.lc.key(part)
            line, node = mark[0] + 1, node[part]
        except (AttributeError, KeyError, IndexError, TypeError):
            break
    return line


def _reason(message: str) -> str:
    if message.startswith("Extra inputs"):
        return "is not a key of a policy"
    return message.removeprefix("Value error, ")
