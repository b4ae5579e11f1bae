"""Joins that the policy wants approved before anybody answers from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from rag_core.datamodel.query import ExpressionJoin
from rag_core.policy.refusal import Refusal
from rag_core.policy.resolve import Resolver
from rag_core.policy.rules import JoinRule, split_name

Pair = frozenset[str]
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
        """Looks at IN with a subquery, USING, NATURAL and every comparison that holds both columns. Raises Refusal."""
        if not self._waiting:
            return
        compared = [frozenset((left.lower(), right.lower())) for left, right in joined_columns(tree, resolver)]
        for node in tree.find_all(exp.Predicate):
            compared.append(frozenset(column.lower() for column in _columns_in(node, resolver)))
        for pair in self._waiting:
            if any(pair <= columns for columns in compared):
                left, right = sorted(pair) if len(pair) == 2 else (*pair, *pair)
                raise Refusal(
                    "join_needs_approval",
                    f"the policy wants the join of {left} with {right} approved first (nightshift schema joins)",
                )


def joins_of(tree: exp.Expr, resolver: Resolver) -> tuple[tuple[str, str], ...]:
    """The pairs of columns of different tables that a resolved statement joins on, each once, in order of name."""
    pairs = {(min(pair), max(pair)) for pair in joined_columns(tree, resolver)}
    return tuple(sorted(pair for pair in pairs if _table_of(pair[0]) != _table_of(pair[1])))


def expression_joins_of(tree: exp.Expr, resolver: Resolver, dialect: str) -> tuple[ExpressionJoin, ...]:
    """The pairs of columns of different tables that it compares by an expression of each, each once, in order.

    A side of several columns, or of a query, says too little to be looked up and is left out.
    """
    found: set[tuple[tuple[str, str], tuple[str, str]]] = set()
    for node in tree.find_all(exp.EQ, exp.NullSafeEQ):
        left, right = (_form(side, resolver, dialect) for side in (node.this, node.expression))
        if left is None or right is None or _table_of(left[0]) == _table_of(right[0]):
            continue
        if left[1] != VALUE or right[1] != VALUE:
            found.add((min(left, right), max(left, right)))
    return tuple(
        ExpressionJoin(left=one, left_form=one_form, right=other, right_form=other_form)
        for (one, one_form), (other, other_form) in sorted(found)
    )


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


def joined_columns(tree: exp.Expr, resolver: Resolver) -> Iterator[tuple[str, str]]:
    """Pairs of catalog columns that equalities, IN with a subquery, USING and NATURAL compare."""
    yield from resolver.joined
    for node in tree.find_all(exp.EQ, exp.NullSafeEQ, exp.In):
        right: exp.Expr | None = node.args.get("expression")
        if isinstance(node, exp.In):
            query = node.args.get("query")
            inner = query.unnest() if query is not None else None
            right = inner.expressions[0].unalias() if isinstance(inner, exp.Select) and inner.expressions else None
        sides = [resolver.meanings.get(id(side.unnest())) for side in (node.this, right) if side is not None]
        if len(sides) == 2 and sides[0] is not None and sides[1] is not None:
            yield sides[0], sides[1]
