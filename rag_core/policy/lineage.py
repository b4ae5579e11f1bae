"""What an expression is made of in the end: the catalog columns behind it, through any derived tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from sqlglot import exp

from rag_core.policy.scope import Output, Parts, Source

Origins = frozenset[str]
_Step = exp.Expr | tuple[Source, str | None]
# What a step leads to: further steps, and columns of the catalog.
_Further = tuple[Iterable[_Step], Iterable[str]]


class Lineage:
    """Traces expressions of a resolved statement back to `schema.table.column`.

    Args:
        bound: by the id of a column node, the sources and keys that it may be.
        outputs: by the id of a query, its output.
    """

    def __init__(self, bound: Mapping[int, list[tuple[Source, str | None]]], outputs: Mapping[int, Output]) -> None:
        self._bound = bound
        self._outputs = outputs
        self._known: dict[int, Origins] = {}

    def of(self, node: exp.Expr) -> Origins:
        """The columns that a value may come from; of a query inside, those that it gives."""
        if id(node) not in self._known:
            self._known[id(node)] = self.of_parts((node,))
        return self._known[id(node)]

    def of_parts(self, parts: Iterable[_Step]) -> Origins:
        """The same of what a derived column is made of."""
        return _traced(parts, self._behind)

    def singly(self, parts: Iterable[_Step]) -> Origins:
        """The columns that a value may be alone: the branches of a UNION each for itself, mixtures left out."""
        return _traced(parts, self._alone)

    def place_of(self, node: exp.Expr) -> tuple[int, str | None] | None:
        """The source, by its id, and the key that a plain column means; None for anything else."""
        bound = self._bound.get(id(node.unnest()), [])
        return (id(bound[0][0]), bound[0][1]) if len(bound) == 1 else None

    def columns_of(self, query: exp.Expr) -> list[Parts]:
        """What each output column of a query is made of, in order."""
        output = self._outputs.get(id(query))
        return [*output.parts, *((output.rest,) if output.rest else ())] if output is not None else []

    def _behind(self, step: _Step) -> _Further:
        if not isinstance(step, tuple):
            return self._read_in(step), ()
        source, key = step
        if source.access is not None:
            return (), _catalog_columns(source, source.access.table.qualified_name, key)
        return _made_of(source, key), ()

    def _alone(self, step: _Step) -> _Further:
        if isinstance(step, tuple):
            source, key = step
            if source.access is None and key in source.parts:
                return source.parts[key], ()
        else:
            inner = step.unalias().unnest()
            if isinstance(inner, exp.Column) and id(inner) in self._bound:
                return self._bound[id(inner)], ()
        made = self.of_parts((step,))
        return (), made if len(made) == 1 else ()

    def _read_in(self, node: exp.Expr) -> Iterator[_Step]:
        for item in node.walk(prune=lambda inner: isinstance(inner, exp.Query)):
            if isinstance(item, exp.Column):
                yield from self._bound.get(id(item), ())
            elif isinstance(item, exp.Query) and not isinstance(item.parent, exp.Exists):
                for made in self.columns_of(item):
                    yield from made


def _traced(parts: Iterable[_Step], follow: Callable[[_Step], _Further]) -> Origins:
    """The columns that are reached by following each step once."""
    found: set[str] = set()
    seen: set[int | tuple[int, str | None]] = set()
    steps: list[_Step] = list(parts)
    while steps:
        step = steps.pop()
        mark = (id(step[0]), step[1]) if isinstance(step, tuple) else id(step)
        if mark in seen:
            continue  # of a table that reads itself, what it reads besides is all there is
        seen.add(mark)
        further, columns = follow(step)
        steps.extend(further)
        found.update(columns)
    return frozenset(found)


def _catalog_columns(source: Source, table: str, key: str | None) -> Iterator[str]:
    name = source.columns.get(key) if key is not None else None
    # A name that is not known may be any column, as behind a pivot.
    for column in (name,) if name is not None else source.columns.values():
        if column is not None:
            yield f"{table}.{column}"


def _made_of(source: Source, key: str | None) -> Iterator[_Step]:
    if key is not None and key in source.parts:
        yield from source.parts[key]
        return
    if key is None:
        for made in source.parts.values():
            yield from made
    yield from source.rest
