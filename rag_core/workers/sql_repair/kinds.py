"""What kind of value an expression gives, as far as the schema tells. Pure."""

from __future__ import annotations

from typing import Literal

from sqlglot import exp

from rag_core.schema.types import canonical_type
from rag_core.workers.sql_repair.shape import Shape
from rag_core.workers.sql_repair.sources import joins_of

Kind = Literal["integer", "number", "text", "date", "timestamp", "time", "boolean", "interval", "unknown", ""]

_INTEGERS = frozenset({"smallint", "integer", "bigint"})
_NUMBERS = frozenset({"numeric", "real", "double precision", "float", "decimal"})
_TEXTS = frozenset({"text", "character varying", "character", "varchar", "char", "string", "citext", "bpchar"})


def kind_of_type(text: str) -> Kind:
    """The kind of a column's type; empty where it is none of those that are told apart."""
    name = canonical_type(text).name
    if name in _INTEGERS:
        return "integer"
    if name in _NUMBERS or name.startswith("numeric"):
        return "number"
    if name in _TEXTS:
        return "text"
    if name.startswith("timestamp"):
        return "timestamp"
    if name.startswith("time"):
        return "time"
    if name == "date":
        return "date"
    if name == "boolean":
        return "boolean"
    return "interval" if name == "interval" else ""


def kind_of(node: exp.Expr, shape: Shape) -> Kind:  # noqa: C901 - one branch a node
    """The kind of an expression; `unknown` is a quoted literal, empty is not known."""
    if isinstance(node, exp.Paren | exp.Max | exp.Min | exp.Neg | exp.Abs | exp.Coalesce | exp.Alias):
        return kind_of(node.this, shape)
    if isinstance(node, exp.Column):
        return _column_kind(node, shape)
    if isinstance(node, exp.Literal):
        return "unknown" if node.is_string else "integer" if node.is_int else "number"
    if isinstance(node, exp.Boolean | exp.Predicate | exp.Not):
        return "boolean"
    if isinstance(node, exp.Cast):
        return kind_of_type(node.to.sql(dialect=shape.dialect))
    if isinstance(node, exp.CurrentDate):
        return "date"
    if isinstance(node, exp.CurrentTimestamp | exp.TimestampTrunc | exp.StrToTime):
        return "timestamp"
    if isinstance(node, exp.Interval):
        return "interval"
    if isinstance(node, exp.Count | exp.Length):
        return "integer"
    if isinstance(node, exp.Extract | exp.Avg | exp.Round | exp.Stddev):
        return "number"
    if isinstance(node, exp.Sum):
        inner = kind_of(node.this, shape)
        return inner if inner in ("integer", "number", "interval") else "number"
    if isinstance(node, exp.Lower | exp.Upper | exp.Concat | exp.DPipe | exp.TimeToStr | exp.Substring | exp.Trim):
        return "text"
    if isinstance(node, exp.Case):
        found = {kind_of(item.args["true"], shape) for item in node.args["ifs"]} - {"unknown"}
        return found.pop() if len(found) == 1 else ""
    if isinstance(node, exp.Add | exp.Sub):
        return _sum_kind(node, shape)
    if isinstance(node, exp.Mul | exp.Div | exp.Mod):
        sides = {kind_of(node.this, shape), kind_of(node.expression, shape)}
        return "integer" if sides == {"integer"} else "number" if sides <= {"integer", "number"} else ""
    return ""


def _sum_kind(node: exp.Add | exp.Sub, shape: Shape) -> Kind:
    left, right = kind_of(node.this, shape), kind_of(node.expression, shape)
    if {left, right} <= {"integer", "number"}:
        return "integer" if left == right == "integer" else "number"
    if left == right == "date" and isinstance(node, exp.Sub):
        return "integer"
    if {left, right} <= {"date", "timestamp"} and isinstance(node, exp.Sub):
        return "interval"
    if left in ("date", "timestamp") and right == "interval":
        return "timestamp"
    if left == "date" and right == "integer":
        return "date"
    return ""


def _column_kind(column: exp.Column, shape: Shape) -> Kind:
    name, qualifier = shape.key(column.this), shape.key(column.args.get("table"))
    select = column.find_ancestor(exp.Select)
    while select is not None:
        from_ = select.args.get("from_")
        for entry in ([from_] if from_ is not None else []) + joins_of(select):
            node = entry.this
            if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
                continue
            if qualifier and node.alias_or_name.lower() != qualifier.lower():
                continue
            table = shape.find_table(shape.key(node.this), shape.key(node.args.get("db")))
            if table is not None and name in table.columns:
                return kind_of_type(table.columns[name].type)
        select = select.find_ancestor(exp.Select)
    return ""
