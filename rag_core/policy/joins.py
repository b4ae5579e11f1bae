"""Joins that the policy wants approved before anybody answers from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from rag_core.policy.refusal import Refusal
from rag_core.policy.resolve import Resolver
from rag_core.policy.rules import JoinRule, split_name

Pair = frozenset[str]


def pair_of(left: str, right: str) -> Pair:
    """A pair of `schema.table.column`, whatever its order, case and quotes."""
    return frozenset(".".join(split_name(side)).lower() for side in (left, right))


class JoinGuard:
    """Refuses joins on the policy's pairs that nobody has approved."""

    def __init__(self, rules: Iterable[JoinRule], approved: Iterable[tuple[str, str]]) -> None:
        done = {pair_of(*pair) for pair in approved}
        self._waiting = {pair_of(rule.left, rule.right) for rule in rules} - done

    def check(self, tree: exp.Expr, resolver: Resolver) -> None:
        """Looks at equalities, IN with a subquery, USING and NATURAL. Raises Refusal."""
        if not self._waiting:
            return
        for left, right in joined_columns(tree, resolver):
            if frozenset((left.lower(), right.lower())) in self._waiting:
                raise Refusal(
                    "join_needs_approval",
                    f"the policy wants the join of {left} with {right} approved first (nightshift schema joins)",
                )


def joins_of(tree: exp.Expr, resolver: Resolver) -> tuple[tuple[str, str], ...]:
    """The pairs of columns of different tables that a resolved statement joins on, each once, in order of name."""
    pairs = {(min(pair), max(pair)) for pair in joined_columns(tree, resolver)}
    return tuple(sorted(pair for pair in pairs if pair[0].rpartition(".")[0] != pair[1].rpartition(".")[0]))


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
