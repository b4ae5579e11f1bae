"""Mends comparisons and functions of values of kinds that do not go together. Pure."""

from __future__ import annotations

import re

from sqlglot import exp

from rag_core.workers.sql_repair.kinds import Kind, kind_of
from rag_core.workers.sql_repair.mends import Mend
from rag_core.workers.sql_repair.shape import Shape

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_TIMES = ("date", "timestamp")
_NUMBERS = ("integer", "number")
CONFIDENCE = 0.85
_SPAN = re.compile(r"^\d+ (?:second|minute|hour|day|week|month|year)s?$", re.IGNORECASE)
_MONTH = re.compile(r"^\d{4}-\d{2}$")


def mend_types(tree: exp.Expr, shape: Shape) -> list[Mend]:
    """Casts what must be cast, in place; tells what was done."""
    mends: list[Mend] = []
    for node in list(tree.walk()):
        before = node.sql(dialect=shape.dialect)
        after = _mended(node, shape)
        if after is not None:
            text = after.sql(dialect=shape.dialect)
            if text != before:
                mends.append(Mend(kind="cast", before=before, after=text, confidence=CONFIDENCE))
    return mends


def _mended(node: exp.Expr, shape: Shape) -> exp.Expr | None:  # noqa: C901 - one branch a node
    if isinstance(node, exp.Like | exp.ILike):
        return _as_text(node, shape)
    if isinstance(node, _COMPARISONS):
        return _compare(node, shape)
    if isinstance(node, exp.Between):
        return _between(node, shape)
    if isinstance(node, exp.Add | exp.Sub):
        return _shift(node, shape)
    if isinstance(node, exp.Round):
        if node.args.get("decimals") is not None and not isinstance(node.this, exp.Cast):
            node.set("this", exp.cast(node.this, "numeric"))
            return node
        return None
    if isinstance(node, exp.Trunc) and kind_of(node.this, shape) not in _TIMES:
        node.set("this", exp.cast(node.this, "numeric"))
        return node
    if isinstance(node, exp.StrToDate | exp.StrToTime | exp.UnixToTime) and kind_of(node.this, shape) in _TIMES:
        # What is a time already need not be read from text.
        new = exp.cast(node.this.copy(), "date" if isinstance(node, exp.StrToDate) else "timestamp")
        node.replace(new)
        return new
    if isinstance(node, exp.GroupConcat) and kind_of(node.this, shape) in (*_NUMBERS, *_TIMES):
        node.set("this", exp.cast(node.this, "text"))
        return node
    if isinstance(node, exp.Sum | exp.Avg):
        return _aggregate(node, shape)
    if isinstance(node, exp.Extract):
        return _extract(node, shape)
    if isinstance(node, exp.TimestampTrunc) and kind_of(node.this, shape) in ("text", "unknown"):
        node.set("this", exp.cast(node.this, "timestamp"))
        return node
    return None


def _as_text(node: exp.Expr, shape: Shape) -> exp.Expr | None:
    if kind_of(node.this, shape) in ("text", "unknown", ""):
        return None
    node.set("this", exp.cast(node.this, "text"))
    return node


def _compare(node: exp.Expr, shape: Shape) -> exp.Expr | None:
    month = node.expression
    if isinstance(node.this, exp.TimestampTrunc) and isinstance(month, exp.Literal) and _MONTH.match(month.name):
        node.set("expression", exp.Literal.string(f"{month.name}-01"))
        return node
    left, right = kind_of(node.this, shape), kind_of(node.expression, shape)
    fixed = _fit(node.expression, left, right, isinstance(node, exp.EQ | exp.NEQ))
    if fixed is not None:
        node.set("expression", fixed)
        return node
    fixed = _fit(node.this, right, left, isinstance(node, exp.EQ | exp.NEQ))
    if fixed is not None:
        node.set("this", fixed)
        return node
    return None


def _fit(node: exp.Expr, wanted: Kind, own: Kind, equal: bool) -> exp.Expr | None:
    """The expression so that it can be compared with a value of the wanted kind; None where it can or nothing helps."""
    if wanted == own or not wanted or not own:
        return None
    if wanted == "text" and own in _NUMBERS and equal:
        return exp.Literal.string(node.name) if isinstance(node, exp.Literal) else exp.cast(node, "text")
    if own == "text" and wanted in _NUMBERS and not equal:
        return exp.cast(node, "numeric")
    if own == "text" and wanted in (*_TIMES, "interval"):
        return exp.cast(node, wanted)
    if wanted == "integer" and isinstance(node, exp.TimestampTrunc):
        return exp.Extract(this=exp.var(node.text("unit").upper() or "YEAR"), expression=node.this.copy())
    if wanted == "integer" and own in _TIMES:
        return exp.Extract(this=exp.var("YEAR"), expression=node.copy())
    if wanted == "boolean" and isinstance(node, exp.Literal) and node.name in ("0", "1"):
        return exp.Boolean(this=node.name == "1")
    if wanted == "interval" and own == "integer" and isinstance(node, exp.Literal):
        return exp.Interval(this=exp.Literal.string(f"{node.name} days"))
    if wanted == "integer" and own == "interval" and isinstance(node, exp.Interval):
        # The difference of two dates is a number of days.
        return exp.Div(
            this=exp.Extract(this=exp.var("EPOCH"), expression=node.copy()), expression=exp.Literal.number(86400)
        )
    return None


def _between(node: exp.Between, shape: Shape) -> exp.Expr | None:
    own = kind_of(node.this, shape)
    changed = False
    for side in ("low", "high"):
        fixed = _fit(node.args[side], own, kind_of(node.args[side], shape), equal=False)
        if fixed is not None:
            node.set(side, fixed)
            changed = True
    if own == "text" and {kind_of(node.args[side], shape) for side in ("low", "high")} & {"date", "timestamp"}:
        node.set("this", exp.cast(node.this, "date"))
        changed = True
    return node if changed else None


def _shift(node: exp.Add | exp.Sub, shape: Shape) -> exp.Expr | None:
    """Adding to or taking from a time that is kept as text, or whole days from a timestamp."""
    left, right = kind_of(node.this, shape), kind_of(node.expression, shape)
    if isinstance(node, exp.Add) and "text" in (left, right) and {left, right} <= {"text", "unknown"}:
        joined = exp.DPipe(this=node.this.copy(), expression=node.expression.copy())
        node.replace(joined)
        return joined
    if left == "text" and right in (*_TIMES, "interval"):
        node.set("this", exp.cast(node.this, "date" if right == "date" else "timestamp"))
        return node
    if right == "text" and left in _TIMES:
        node.set("expression", exp.cast(node.expression, "date" if left == "date" else "timestamp"))
        return node
    if left in _TIMES and isinstance(node.expression, exp.Literal) and _SPAN.match(node.expression.name):
        node.set("expression", exp.Interval(this=node.expression.copy()))
        return node
    if left == "timestamp" and right == "integer" and isinstance(node.expression, exp.Literal):
        node.set("expression", exp.Interval(this=exp.Literal.string(f"{node.expression.name} days")))
        return node
    if left == "integer" and right in _TIMES:
        node.set("expression", exp.Extract(this=exp.var("YEAR"), expression=node.expression.copy()))
        return node
    if right == "integer" and left in _TIMES and isinstance(node.expression, exp.Column):
        node.set("this", exp.Extract(this=exp.var("YEAR"), expression=node.this.copy()))
        return node
    return None


def _aggregate(node: exp.Sum | exp.Avg, shape: Shape) -> exp.Expr | None:
    own = kind_of(node.this, shape)
    if own == "text":
        node.set("this", exp.cast(node.this, "numeric"))
        return node
    if own == "boolean":
        node.set("this", exp.cast(node.this, "int"))
        return node
    return None


def _extract(node: exp.Extract, shape: Shape) -> exp.Expr | None:
    """A part of a number of days: the days themselves; of text: of the time it holds; the year of a year: itself."""
    own, part, inner = kind_of(node.expression, shape), node.this.name.upper(), node.expression
    if own == "text":
        node.set("expression", exp.cast(inner, "timestamp"))
        return node
    if own != "integer":
        return None
    if part in ("DAY", "DAYS") or (part == "YEAR" and isinstance(inner, exp.Column)):
        replacement: exp.Expr = exp.Paren(this=inner.copy()) if isinstance(inner, exp.Binary) else inner.copy()
    elif part == "EPOCH":
        replacement = exp.Paren(this=exp.Mul(this=exp.Paren(this=inner.copy()), expression=exp.Literal.number(86400)))
    elif part == "YEAR":
        replacement = exp.Paren(
            this=exp.Div(this=exp.Paren(this=inner.copy()), expression=exp.Literal.number("365.25"))
        )
    else:
        return None
    node.replace(replacement)
    return replacement
