"""Column types in one canonical form, and what a change of type means for those who read the column. Pure."""

from __future__ import annotations

import re
from typing import Literal

from rag_core.datamodel.base import Record

TypeChange = Literal["equal", "widened", "narrowed", "changed"]

# The documented aliases of PostgreSQL, Redshift, Snowflake, BigQuery and DuckDB for the same stored type.
_ALIASES = {
    "int2": "smallint",
    "smallserial": "smallint",
    "serial2": "smallint",
    "int": "integer",
    "int4": "integer",
    "serial": "integer",
    "serial4": "integer",
    "int8": "bigint",
    "int64": "bigint",
    "bigserial": "bigint",
    "serial8": "bigint",
    "decimal": "numeric",
    "dec": "numeric",
    "number": "numeric",
    "bignumeric": "numeric",
    "float4": "real",
    "float8": "double precision",
    "float64": "double precision",
    "double": "double precision",
    "float": "double precision",
    "bool": "boolean",
    "varchar": "character varying",
    "nvarchar": "character varying",
    "char varying": "character varying",
    "char": "character",
    "nchar": "character",
    "bpchar": "character",
    "string": "text",
    "bytes": "bytea",
    "blob": "bytea",
    "varbit": "bit varying",
    "timestamptz": "timestamp with time zone",
    "timestamp_tz": "timestamp with time zone",
    "timestamp_ltz": "timestamp with time zone",
    "timestamp without time zone": "timestamp",
    "timestamp_ntz": "timestamp",
    "datetime": "timestamp",
    "timetz": "time with time zone",
    "time without time zone": "time",
}
# Decimal digits that each integer type can hold.
_INTEGER_DIGITS = {"smallint": 5, "integer": 10, "bigint": 19, "hugeint": 39}
_EXACT_IN_DOUBLE = 15
_EXACT_IN_REAL = 6
_FRACTION_DIGITS = 6
_TEXTS = frozenset({"character varying", "text"})
_LENGTHS = frozenset({"character varying", "text", "character", "bit", "bit varying", "binary", "varbinary"})
_FRACTIONS = frozenset({"timestamp", "timestamp with time zone", "time", "time with time zone", "interval"})
_TYPE = re.compile(r"^(?P<head>[^(\[]+)(?:\((?P<args>[^)]*)\)(?P<tail>[^(\[]*))?(?P<array>(?:\[\d*\])*)$")


class ColumnType(Record):
    """A type in canonical form: `name` without arguments, `arguments` as numbers, `dimensions` of an array."""

    name: str
    arguments: tuple[int, ...] = ()
    dimensions: int = 0

    @property
    def text(self) -> str:
        """The canonical spelling, the same for every alias."""
        arguments = f"({','.join(str(argument) for argument in self.arguments)})" if self.arguments else ""
        return self.name + arguments + "[]" * self.dimensions


def canonical_type(text: str) -> ColumnType:
    """The canonical form of a type's text in any of the supported databases.

    Names that stand in double quotes keep their case, everything else is lower-cased; an unknown name is kept.
    """
    squeezed = " ".join(_fold(text).split())
    match = _TYPE.match(squeezed)
    if match is None:
        return ColumnType(name=squeezed)
    head = " ".join(part for part in (match["head"].strip(), (match["tail"] or "").strip()) if part)
    parts = [part.strip() for part in (match["args"] or "").split(",") if part.strip()]
    if not all(re.fullmatch(r"-?\d+", part) for part in parts):
        # A nested type such as struct<...> or vector of names: only its text can be compared.
        return ColumnType(name=squeezed)
    arguments = tuple(int(part) for part in parts)
    name = _ALIASES.get(head, head)
    if head == "float" and arguments:
        name, arguments = ("real" if arguments[0] <= 24 else "double precision"), ()
    if name == "numeric" and len(arguments) == 1:
        arguments = (arguments[0], 0)
    if name == "character" and not arguments and head != "bpchar":
        arguments = (1,)
    if name in _FRACTIONS and arguments == (_FRACTION_DIGITS,):
        arguments = ()
    return ColumnType(name=name, arguments=arguments, dimensions=(match["array"] or "").count("["))


def compare_types(before: str, after: str) -> TypeChange:
    """Whether the later type holds every value of the earlier one (widened), not all of them, or something else.

    A type is `narrowed` where values may have been rounded, cut or refused; `changed` where the same expression may
    mean something else over it, such as integer to text or date to timestamp.
    """
    old, new = canonical_type(before), canonical_type(after)
    if old == new:
        return "equal"
    if old.dimensions != new.dimensions:
        return "changed"
    if _is_number(old) and _is_number(new):
        return _compare_numbers(old, new)
    if old.name in _LENGTHS and (old.name == new.name or {old.name, new.name} <= _TEXTS):
        return _by_size(_size(old), _size(new))
    if old.name in _FRACTIONS and old.name == new.name:
        return _by_size(_size(old, default=_FRACTION_DIGITS), _size(new, default=_FRACTION_DIGITS))
    return "changed"


def same_family(before: str, after: str) -> bool:
    """Whether two types hold the same sort of value, so that columns of them may be joined: numbers, texts, times."""
    old, new = canonical_type(before), canonical_type(after)
    if old.dimensions != new.dimensions:
        return False
    return _family(old) == _family(new)


def _family(kind: ColumnType) -> str:
    if kind.name in _INTEGER_DIGITS or (kind.name == "numeric" and kind.arguments[1:] == (0,)):
        return "integer"
    if kind.name in _TEXTS or kind.name == "character":
        return "text"
    return kind.name


def _fold(text: str) -> str:
    return "".join(
        part if index % 2 else part.lower() for index, part in enumerate(re.split(r'("(?:[^"]|"")*")', text))
    )


def _is_number(kind: ColumnType) -> bool:
    return kind.name in _INTEGER_DIGITS or kind.name in ("numeric", "real", "double precision")


def _compare_numbers(old: ColumnType, new: ColumnType) -> TypeChange:
    before, after = _digits(old), _digits(new)
    if all(later >= earlier for earlier, later in zip(before, after, strict=True)):
        # numeric to a floating type computes differently even where the digits fit
        return "narrowed" if old.name == "numeric" and new.name in ("real", "double precision") else "widened"
    return "narrowed"


def _digits(kind: ColumnType) -> tuple[float, float]:
    """Digits before and behind the point that a number type keeps exactly; infinity where there is no bound."""
    if kind.name in _INTEGER_DIGITS:
        return _INTEGER_DIGITS[kind.name], 0
    if kind.name == "real":
        return _EXACT_IN_REAL, _EXACT_IN_REAL
    if kind.name == "double precision":
        return _EXACT_IN_DOUBLE, _EXACT_IN_DOUBLE
    if not kind.arguments:
        return float("inf"), float("inf")
    precision, scale = kind.arguments[0], kind.arguments[1]
    return precision - scale, scale


def _size(kind: ColumnType, *, default: float = float("inf")) -> float:
    return kind.arguments[0] if kind.arguments else default


def _by_size(before: float, after: float) -> TypeChange:
    # varchar without a length and text differ in name only; that is told, as a change that loses nothing
    return "widened" if after >= before else "narrowed"
