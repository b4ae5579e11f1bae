"""What a SELECT reads from: its tables and subqueries, by the names that its columns are qualified with. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from rag_core.workers.sql_repair.shape import Shape, TableShape


@dataclass
class Source:
    """One entry of FROM. `outputs` maps compared names to written ones, None where they are not known."""

    name: str
    written: str
    table: TableShape | None = None
    outputs: dict[str, str] | None = None
    scope: Scope | None = None

    def has(self, column: str) -> bool | None:
        """Whether it has a column of a compared name; None where that is not known."""
        if self.table is not None:
            return column in self.table.columns
        return None if self.outputs is None else column in self.outputs


@dataclass
class Scope:
    """A SELECT with its sources, and the scopes around it, the nearest first."""

    select: exp.Select
    sources: list[Source] = field(default_factory=list)
    outer: tuple[Scope, ...] = ()
    ctes: Mapping[str, Source] = field(default_factory=dict)

    def find(self, name: str) -> Source | None:
        """The source of a compared name, here or around."""
        for scope in (self, *self.outer):
            for source in scope.sources:
                if source.name == name:
                    return source
        return None

    def holders(self, column: str) -> list[Source]:
        """The own sources that have a column."""
        return [source for source in self.sources if source.has(column)]

    def free_name(self, wanted: str) -> str:
        """A name that no source has yet."""
        taken = {source.name for source in self.sources} | set(self.ctes)
        if wanted not in taken:
            return wanted
        return next(name for number in range(2, 100) if (name := f"{wanted}_{number}") not in taken)


def own_nodes(select: exp.Expr) -> Iterator[exp.Expr]:
    """The nodes of a SELECT without those inside the queries below it; the queries themselves are given."""
    yield from select.walk(prune=lambda node: node is not select and isinstance(node, exp.Query))


def own_columns(select: exp.Select) -> list[exp.Column]:
    """The columns that a SELECT itself names."""
    return [
        node for node in own_nodes(select) if isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier)
    ]


def joins_of(select: exp.Select) -> list[exp.Join]:
    """The joins of a SELECT in their order."""
    return list(select.args.get("joins") or [])


def source_node(node: exp.Expr) -> exp.Expr | None:
    """What an entry of FROM or JOIN reads."""
    found = node.this
    return found if isinstance(found, exp.Expr) else None


def clause_of(select: exp.Select, node: exp.Expr) -> tuple[str, exp.Expr]:
    """The part of a SELECT that a node stands in, and the node just below the SELECT."""
    while node.parent is not None and node.parent is not select:
        node = node.parent
    return str(node.arg_key), node


def outputs_of(query: exp.Expr, scope: Scope | None, shape: Shape) -> dict[str, str] | None:
    """The columns of a query's result; None where a star cannot be told."""
    while isinstance(query, exp.Subquery | exp.SetOperation):
        query = query.this
    if not isinstance(query, exp.Select):
        return None
    found: dict[str, str] = {}
    for item in query.selects:
        if item.is_star:
            starred = _starred(item, scope)
            if starred is None:
                return None
            found |= starred
            continue
        identifier = item.args.get("alias") if isinstance(item, exp.Alias) else item.this
        if isinstance(identifier, exp.Identifier) and isinstance(item, exp.Alias | exp.Column):
            found[shape.key(identifier)] = identifier.name
        elif isinstance(item, exp.Func):
            name = item.sql_name().lower()
            found[name] = name
    return found


def _starred(item: exp.Expr, scope: Scope | None) -> dict[str, str] | None:
    if scope is None:
        return None
    wanted = item.table if isinstance(item, exp.Column) else ""
    found: dict[str, str] = {}
    for source in scope.sources:
        if wanted and source.name != wanted.lower() and source.written != wanted:
            continue
        if source.table is not None:
            found |= {key: column.name for key, column in source.table.columns.items()}
        elif source.outputs is not None:
            found |= source.outputs
        else:
            return None
    return found
