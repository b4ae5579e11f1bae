"""Mends how a statement is put: another dialect's words, open brackets, comma joins, divisions by nothing. Pure."""

from __future__ import annotations

import re

import sqlglot
from sqlglot import exp

from rag_core.workers.sql_repair.mends import Mend
from rag_core.workers.sql_repair.shape import Shape
from rag_core.workers.sql_repair.sources import joins_of

# What models write by habit, the most likely first.
_OTHERS = ("mysql", "sqlite", "tsql", "bigquery")


def read_otherwise(sql: str, shape: Shape) -> tuple[exp.Query | None, list[Mend]]:
    """A statement that cannot be parsed, read as another dialect's or with its brackets closed; None where it fails."""
    for text, dialects in ((sql, _OTHERS), (_closed(sql), (shape.dialect, *_OTHERS))):
        for dialect in dialects:
            try:
                tree = sqlglot.parse_one(text, dialect=dialect)
            except sqlglot.errors.SqlglotError:
                continue
            if isinstance(tree, exp.Query):
                mend = Mend(
                    kind="syntax", before=sql[-60:], after=tree.sql(dialect=shape.dialect)[-60:], confidence=0.7
                )
                return tree, [mend]
    return None, []


def read_function(sql: str, name: str, shape: Shape) -> tuple[exp.Query | None, list[Mend]]:
    """A statement with a function that this database has not, read as a dialect's that has it; None where none has."""
    called = re.compile(rf"\b{re.escape(name)}\s*\(", re.IGNORECASE)
    for dialect in (*_OTHERS, "snowflake", "redshift"):
        try:
            text = sqlglot.parse_one(sql, dialect=dialect).sql(dialect=shape.dialect)
            tree = sqlglot.parse_one(text, dialect=shape.dialect)
        except (sqlglot.errors.SqlglotError, ValueError):
            continue
        if isinstance(tree, exp.Query) and not called.search(text):
            return tree, [Mend(kind="dialect", before=f"{name}()", after=f"as {dialect} has it", confidence=0.8)]
    return None, []


def _closed(sql: str) -> str:
    """The statement up to its first semicolon, with as many brackets closed as were opened."""
    text = sql.split(";")[0].rstrip()
    missing = text.count("(") - text.count(")")
    return text + ")" * missing if missing > 0 else text


def quote_aliases(tree: exp.Expr, shape: Shape) -> list[Mend]:
    """Quotes the names that a statement gives itself where they are key words of the database, and each use of them."""
    rules = shape.rules
    given = [
        item.this if isinstance(item, exp.TableAlias) else item.args["alias"]
        for item in tree.find_all(exp.TableAlias, exp.Alias)
    ]
    plain = [item for item in given if isinstance(item, exp.Identifier) and not item.args.get("quoted")]
    wrong = {rules.key(item.name, quoted=False): item.name for item in plain if rules.identifier(item.name).quoted}
    used = [part for column in tree.find_all(exp.Column) for part in (column.args.get("table"), _bare(column))]
    read = [table.this for table in tree.find_all(exp.Table) if table.args.get("db") is None]
    for item in [*plain, *used, *read]:
        if isinstance(item, exp.Identifier) and not item.args.get("quoted"):
            name = rules.key(item.name, quoted=False)
            if name in wrong:
                item.set("this", name)
                item.set("quoted", True)
    return [
        Mend(
            kind="alias", before=before, after=exp.to_identifier(name, quoted=True).sql(shape.dialect), confidence=0.95
        )
        for name, before in wrong.items()
    ]


def _bare(column: exp.Column) -> exp.Expr | None:
    return column.this if column.args.get("table") is None else None


def cross_joins(tree: exp.Expr, shape: Shape) -> list[Mend]:
    """Tables after a comma become cross joins, so that the conditions of later joins may name them."""
    mends = []
    for select in list(tree.find_all(exp.Select)):
        for join in joins_of(select):
            if join.args.get("on") is None and not join.args.get("using") and not join.kind and not join.method:
                join.set("kind", "CROSS")
                name = join.this.alias_or_name
                mends.append(Mend(kind="syntax", before=f", {name}", after=f"CROSS JOIN {name}", confidence=0.9))
    _ = shape
    return mends


def in_for_equals(tree: exp.Expr, shape: Shape) -> list[Mend]:
    """A value that is compared with a subquery of several rows is looked for among them."""
    mends = []
    for node in list(tree.find_all(exp.EQ)):
        if isinstance(node.expression, exp.Subquery):
            before = node.sql(dialect=shape.dialect)
            new = exp.In(this=node.this.copy(), query=node.expression.copy())
            node.replace(new)
            mends.append(Mend(kind="syntax", before=before, after=new.sql(dialect=shape.dialect), confidence=0.8))
    return mends


def divide_safely(tree: exp.Expr, shape: Shape) -> list[Mend]:
    """Nothing comes of a division by zero."""
    mends = []
    for node in list(tree.find_all(exp.Div)):
        divisor = node.expression
        if isinstance(divisor, exp.Literal | exp.Nullif) or (
            isinstance(divisor, exp.Paren) and isinstance(divisor.this, exp.Nullif)
        ):
            continue
        before = divisor.sql(dialect=shape.dialect)
        new = exp.Nullif(this=divisor.unnest().copy(), expression=exp.Literal.number(0))
        node.set("expression", new)
        mends.append(Mend(kind="division", before=before, after=new.sql(dialect=shape.dialect), confidence=0.95))
    return mends
