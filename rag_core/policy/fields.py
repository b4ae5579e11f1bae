"""Names after a point on Redshift, where nobody but the guard judges them.

As in PostgreSQL `(x).name` is the function or the cast `name(x)` where x has no such field: `(16390).regclass` names a
table. Rows of tables have their columns as fields, values of the type SUPER have any; nothing else has fields there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlglot import exp

from rag_core.policy.refusal import Refusal

if TYPE_CHECKING:
    from rag_core.policy.scope import Source

# Functions whose results are SUPER.
_MAKES_SUPER = frozenset(
    {"json_parse", "parse_json", "object", "object_transform", "array", "array_concat", "subarray", "split_to_array"}
)


class SuperFields:
    """Judges fields by what they are taken of; `bound` gives the sources and keys of column nodes by their ids."""

    def __init__(self, bound: Mapping[int, list[tuple[Source, str | None]]]) -> None:
        self._bound = bound

    def check(self, value: exp.Expr, name: str) -> None:
        """Raises Refusal where the value is not known to be SUPER, so that the name may be a function or a cast."""
        if not self._is_super(value):
            raise _refused(name)

    def check_column(self, source: Source, key: str, name: str) -> None:
        """Raises Refusal where a name of a derived table is none of those that the database gives of itself."""
        if key not in (source.key, *(given for part in source.rest for given in _given_names(part))):
            raise _refused(name)

    def _is_super(self, value: exp.Expr | tuple[Source, str | None]) -> bool:
        if isinstance(value, tuple):
            source, key = value
            if source.access is not None:
                column = source.access.table.column(source.columns.get(key or "") or "")
                return column is not None and column.type.lower() == "super"
            parts = source.parts.get(key or "", ())
            return bool(parts) and all(map(self._is_super, parts))
        value = value.unnest().unalias().unnest()
        if isinstance(value, exp.Column):
            bound = self._bound.get(id(value), [])
            return bool(bound) and all(map(self._is_super, bound))
        if isinstance(value, (exp.Bracket, exp.Dot)):
            return self._is_super(value.this)
        if isinstance(value, exp.Cast):
            return value.to.sql(dialect="redshift").lower() == "super"
        return isinstance(value, exp.Func) and _name_of(value) in _MAKES_SUPER


def _name_of(node: exp.Expr) -> str:
    return (
        node.name if isinstance(node, exp.Anonymous) else node.sql_name() if isinstance(node, exp.Func) else ""
    ).lower()


def _given_names(part: exp.Expr | tuple[Source, str]) -> tuple[str, ...]:
    """What the database may call a column that a query does not name: as the function that makes it."""
    if isinstance(part, tuple):
        return ()
    value = part.unnest()
    if isinstance(value, exp.Case):
        return ("case",)
    return (_name_of(value), _name_of(value).removeprefix("exploding_"))


def _refused(name: str) -> Refusal:
    return Refusal(
        "unsupported_syntax",
        f"{name} after a point is no column here and no field of a SUPER value, so that it may be a function: "
        "name the column in the inner query, or call the function",
    )
