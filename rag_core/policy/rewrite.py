"""Rewrites a checked statement so that the database cannot understand its names otherwise than the guard did."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from rag_core.policy.access import TableAccess
from rag_core.policy.grouping import complete_grouping
from rag_core.policy.literals import plain_literals
from rag_core.policy.names import NameRules
from rag_core.policy.refusal import Refusal
from rag_core.policy.resolve import Resolver
from rag_core.policy.spelling import plain_spelling

# Databases that compute a subquery with an OFFSET by itself. The others say nothing of the order in which they compute,
# so that there the values of rows that a filter hides are NULL wherever the statement meets them.
_FENCED = frozenset({"postgres", "duckdb"})


def name_types(tree: exp.Expr) -> None:
    """Makes a text of every `pg_typeof(x)` in place. Raises Refusal where it is a source.

    Its own type, regtype, would turn any number that meets it (`ARRAY[pg_typeof(1), '16390']`) into the name of the
    table of that number, hidden or not.
    """
    for node in list(tree.find_all(exp.Anonymous, exp.Typeof)):
        if isinstance(node, exp.Anonymous) and node.name.lower() != "pg_typeof":
            continue
        call: exp.Expr = node
        if isinstance(node.parent, exp.Dot) and node.parent.expression is node:
            call = node.parent
        if isinstance(call.parent, (exp.Table, exp.Lateral, exp.WithinGroup, exp.Window, exp.Filter)):
            raise Refusal("unsupported_syntax", "pg_typeof is not read here: call it in the select list")
        if not (isinstance(call.parent, exp.Cast) and call.parent.to.this is exp.DType.TEXT):
            text = exp.cast(exp.null(), "text", dialect="postgres")
            call.replace(text)
            text.set("this", call)


def rewrite(resolver: Resolver, rules: NameRules) -> None:
    """Changes the resolved tree in place.

    Each table is named with its schema. A table of which something is hidden becomes a subquery of what may be seen,
    so that `*`, whole rows, NATURAL JOIN and every other route end there.
    """
    for column in resolver.replaced_columns:
        column.set("db", None)
        column.set("catalog", None)
    for node, access in resolver.places:
        if node.args.get("db") is None:
            node.set("db", rules.identifier(access.table.schema_name))
        if access.restricted:
            complete_grouping(node, access, rules)
            _replace(node, access, rules)


def _replace(node: exp.Table, access: TableAccess, rules: NameRules) -> None:
    alias = node.args.get("alias")
    if alias is None:
        alias = exp.TableAlias(this=node.this.copy())
    elif alias.this is None:
        alias.set("this", node.this.copy())
    inner = node.copy()
    for name in ("alias", "joins", "pivots", "laterals"):
        inner.set(name, None)
    conditions = [_condition(text, access, rules) for text in access.row_filters]
    projections = _projections(access, rules, conditions)
    if not projections:
        raise Refusal("column_excluded", f"nothing of {access.table.qualified_name} may be read")
    shown = exp.Select(expressions=projections).from_(inner, copy=False)
    for condition in conditions:
        shown = shown.where(condition, copy=False)
    if conditions and rules.dialect in _FENCED:
        # Nothing of the statement is computed on rows that the filter hides: an error would tell their values.
        shown = shown.offset(0, copy=False)
    outer = exp.Subquery(this=shown, alias=alias)
    for name in ("joins", "pivots", "laterals"):
        if node.args.get(name):
            outer.set(name, node.args[name])
    node.replace(outer)


def _projections(access: TableAccess, rules: NameRules, conditions: list[exp.Expr]) -> list[exp.Expr]:
    """What may be seen of each column, under its own name."""
    seen: list[exp.Expr] = []
    for name in access.visible.values():
        value: exp.Expr = exp.Column(this=rules.identifier(name))
        if name in access.masks:
            value = _mask(access, name, rules)
        elif name in access.texts:
            kind = "text[]" if _type_of(access, name).endswith("[]") else "text"
            value = exp.cast(value, kind, dialect=rules.dialect)
        elif conditions and rules.dialect not in _FENCED:
            value = exp.Case(ifs=[exp.If(this=exp.and_(*conditions), true=value)])
        seen.append(value if isinstance(value, exp.Column) else exp.alias_(value, rules.identifier(name)))
    return seen


def _type_of(access: TableAccess, name: str) -> str:
    """The type of a column as the catalog spells it; text where it has none."""
    column = access.table.column(name)
    return column.type if column is not None else "text"


def _mask(access: TableAccess, name: str, rules: NameRules) -> exp.Expr:
    kind = _type_of(access, name)
    text = access.masks[name]
    value: exp.Expr = exp.null() if text is None else exp.Literal.string(text)
    try:
        return exp.cast(value, kind, dialect=rules.dialect)
    except SqlglotError:
        return value


def _condition(text: str, access: TableAccess, rules: NameRules) -> exp.Expr:
    if rules.dialect == "postgres":
        text = plain_literals(plain_spelling(text))
    try:
        condition = sqlglot.parse_one(text, read=rules.dialect, into=exp.Condition)
    except SqlglotError:
        raise Refusal(
            "policy_error", f"the policy's row filter of {access.table.qualified_name} cannot be parsed"
        ) from None
    known = {*access.visible, *access.hidden}
    for column in condition.find_all(exp.Column):
        if rules.identifier_key(column.this) not in known:
            raise Refusal(
                "policy_error",
                f"the policy's row filter of {access.table.qualified_name} names {column.name}, "
                "which is no column of it",
            )
    return exp.paren(condition, copy=False)
