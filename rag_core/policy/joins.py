"""Joins that the policy wants approved before anybody answers from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property

from sqlglot import exp

from rag_core.datamodel.query import ExpressionJoin
from rag_core.policy.lineage import Lineage, Origins
from rag_core.policy.refusal import Refusal
from rag_core.policy.resolve import Resolver
from rag_core.policy.rules import JoinRule, split_name

Pair = frozenset[str]
_CLAUSES = (exp.Where, exp.Having, exp.Qualify, exp.Join, exp.Filter)
# Functions that tell whether their arguments are equal.
_COMPARING = frozenset({"nullif", "decode", "equal_null", "array_position", "array_positions"})
# What a joined column is called in an expression of it.
VALUE = "joined_value"


def pair_of(left: str, right: str) -> Pair:
    """A pair of `schema.table.column`, whatever its order, case and quotes."""
    return frozenset(".".join(split_name(side)).lower() for side in (left, right))


class JoinGuard:
    """Refuses joins on the policy's pairs that nobody has approved."""

    def __init__(self, rules: Iterable[JoinRule], approved: Iterable[tuple[str, str]]) -> None:
        done = {pair_of(*pair) for pair in approved}
        self._waiting = {pair_of(rule.left, rule.right) for rule in rules} - done

    def check(self, tree: exp.Expr, resolver: Resolver) -> None:
        """Looks at whatever compares values of both columns, also through derived tables. Raises Refusal."""
        if not self._waiting:
            return
        compared = [frozenset(map(str.lower, columns)) for columns in _compared(tree, resolver)]
        for pair in self._waiting:
            if any(pair <= columns for columns in compared):
                left, right = sorted(pair) if len(pair) == 2 else (*pair, *pair)
                raise Refusal(
                    "join_needs_approval",
                    f"the policy wants the join of {left} with {right} approved first (nightshift schema joins)",
                )


def _compared(tree: exp.Expr, resolver: Resolver) -> Iterator[Origins]:
    """The catalog columns behind each thing that compares: predicates, conditions, USING, INTERSECT and the like."""
    lineage = resolver.lineage
    for one, other in resolver.merged:
        yield lineage.of_parts((*one, *other))
    yield from _met_in_between(tree, lineage)
    for node in tree.find_all(exp.Predicate, exp.Case, exp.Nullif, exp.Anonymous, exp.DecodeCase, *_CLAUSES):
        if isinstance(node, exp.Predicate):
            yield lineage.of(node)
        elif isinstance(node, exp.Case):
            for branch in node.args["ifs"] if node.this is not None else ():
                yield lineage.of(node.this) | lineage.of(branch.this)
        elif not isinstance(node, _CLAUSES):
            if not isinstance(node, exp.Anonymous) or node.name.lower() in _COMPARING:
                yield lineage.of(node)
        else:
            condition = node.args.get("on") if isinstance(node, exp.Join) else node.this
            yield from map(lineage.of, _atoms(condition))


def _met_in_between(tree: exp.Expr, lineage: Lineage) -> Iterator[Origins]:
    """The columns that are each compared with one of no table: with a number of a series, or a value of VALUES."""
    met: defaultdict[object, set[str]] = defaultdict(set)
    for node in tree.find_all(exp.EQ, exp.NullSafeEQ):
        for side, other in ((node.this, node.expression), (node.expression, node.this)):
            place = lineage.place_of(side)
            if place is not None and not lineage.of(side):
                met[place] |= lineage.of(other)
    for columns in met.values():
        yield frozenset(columns)


def _atoms(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """The conditions that AND, OR and NOT join together."""
    stack = [condition] if condition is not None else []
    while stack:
        node = stack.pop()
        if isinstance(node, exp.Connector):
            stack += [node.this, node.expression]
        elif isinstance(node, (exp.Not, exp.Paren)):
            stack.append(node.this)
        else:
            yield node


class JoinReader:
    """What a resolved statement joins on: pairs of `schema.table.column` of different tables, each once, in order.

    Args:
        tree: the statement.
        resolver: what resolved it.
    """

    def __init__(self, tree: exp.Expr, resolver: Resolver) -> None:
        self._resolver = resolver
        # Of one table alone nothing is told.
        self._compared = list(tree.find_all(exp.EQ, exp.NullSafeEQ, exp.In)) if len(resolver.tables) > 1 else []

    @cached_property
    def plain(self) -> tuple[tuple[str, str], ...]:
        """The columns that equalities, IN with a subquery, USING and NATURAL compare as they stand."""
        pairs = list(self._resolver.joined)
        for node in self._compared:
            right: exp.Expr | None = node.args.get("expression")
            if isinstance(node, exp.In):
                query = node.args.get("query")
                inner = query.unnest() if query is not None else None
                right = inner.expressions[0].unalias() if isinstance(inner, exp.Select) and inner.expressions else None
            sides = [self._meaning(side) for side in (node.this, right) if side is not None]
            if len(sides) == 2 and sides[0] is not None and sides[1] is not None:
                pairs.append((sides[0], sides[1]))
        return _ordered(pairs)

    @cached_property
    def derived(self) -> tuple[tuple[str, str], ...]:
        """The columns that may be compared through derived tables, queries, rows, INTERSECT and EXCEPT.

        Without those of `plain`, and without sides that put several columns together.
        """
        if not self._compared and not self._resolver.merged:
            return ()
        pairs = {(one, other) for left, right in self._sides() for one in left for other in right}
        plain = frozenset(self.plain)
        return tuple(pair for pair in _ordered(pairs) if pair not in plain)

    def expressions(self, dialect: str) -> tuple[ExpressionJoin, ...]:
        """The columns that are compared by an expression of each.

        A side of several columns, or of a query, says too little to be looked up and is left out.
        """
        found: set[tuple[tuple[str, str], tuple[str, str]]] = set()
        for node in self._compared:
            if isinstance(node, exp.In):
                continue
            left, right = (_form(side, self._resolver, dialect) for side in (node.this, node.args["expression"]))
            if left is None or right is None or _table_of(left[0]) == _table_of(right[0]):
                continue
            if left[1] != VALUE or right[1] != VALUE:
                found.add((min(left, right), max(left, right)))
        return tuple(
            ExpressionJoin(left=one, left_form=one_form, right=other, right_form=other_form)
            for (one, one_form), (other, other_form) in sorted(found)
        )

    def _meaning(self, side: exp.Expr) -> str | None:
        return self._resolver.meanings.get(id(side.unnest()))

    def _sides(self) -> Iterator[tuple[Origins, Origins]]:
        lineage = self._resolver.lineage
        for one, other in self._resolver.merged:
            yield lineage.singly(one), lineage.singly(other)
        for node in self._compared:
            right: exp.Expr | None = node.args.get("query" if isinstance(node, exp.In) else "expression")
            if right is not None and (self._meaning(node.this) is None or self._meaning(right) is None):
                yield from zip(_positions(node.this, lineage), _positions(right, lineage), strict=False)


def _ordered(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    told = {(min(pair), max(pair)) for pair in pairs}
    return tuple(sorted(pair for pair in told if _table_of(pair[0]) != _table_of(pair[1])))


def _positions(side: exp.Expr, lineage: Lineage) -> list[Origins]:
    """The columns that a side of a comparison may be, value by value: of a row's values, and of a query's columns."""
    side = side.unnest()
    if isinstance(side, (exp.Any, exp.All)):
        side = side.this.unnest()
    if isinstance(side, exp.Tuple) or (isinstance(side, exp.Anonymous) and side.name.lower() == "row"):
        return [lineage.singly((item,)) for item in side.expressions]
    if isinstance(side, exp.Query):
        return [lineage.singly(made) for made in lineage.columns_of(side)]
    return [lineage.singly((side,))]


def _form(side: exp.Expr, resolver: Resolver, dialect: str) -> tuple[str, str] | None:
    """The one column of a side and the side with that column called `joined_value`."""
    side = side.unnest()
    if side.find(exp.Query, exp.AggFunc, exp.Window, exp.Star) is not None:
        return None
    columns = _columns_in(side, resolver)
    nodes = list(side.find_all(exp.Column))
    if len(columns) != 1 or any(id(node) not in resolver.meanings for node in nodes):
        return None
    if isinstance(side, exp.Column):
        return next(iter(columns)), VALUE
    # The node's own copy: the statement itself is generated from what was checked.
    written = side.copy()
    for node in list(written.find_all(exp.Column)):
        node.replace(exp.column(VALUE))
    return next(iter(columns)), written.sql(dialect=dialect, comments=False, normalize_functions=False)


def _columns_in(node: exp.Expr, resolver: Resolver) -> set[str]:
    """The catalog columns that an expression names, those of queries inside it left out."""
    inside = node.walk(prune=lambda item: isinstance(item, exp.Query))
    return {meant for item in inside if (meant := resolver.meanings.get(id(item))) is not None}


def _table_of(column: str) -> str:
    return column.rpartition(".")[0]
