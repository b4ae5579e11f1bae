"""What a statement's own constants blow up: `repeat('x', 300000000)` is a short text and a large value.

The database computes such a value already while it plans, before any limit on rows and bytes counts. Sizes that follow
from constants alone are told beforehand; where they depend on data, the execution's own limits hold.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable

from sqlglot import exp

from rag_core.policy.refusal import Refusal
from rag_core.policy.series import SERIES, series_rows, unwrapped

# A value may be larger than what the policy lets through as a result, for it may only be measured or compared.
LEAST_BOUND = 32 * 1024 * 1024
MOST_SERIES_ROWS = 10_000_000
_WIDTH = re.compile(r"%(?:\d+\$)?-?(\d+|\*)")
_CHARACTERS = frozenset({"char", "character", "nchar", "bpchar", "varchar", "bit", "text"})


def check_growth(functions: Iterable[exp.Expr], max_bytes: int) -> None:
    """Raises Refusal where constants alone make values of more bytes than the bound, or series of too many rows.

    Args:
        functions: the functions and casts of the parsed statement.
        max_bytes: the policy's bound on a result, in bytes.
    """
    bound = max(max_bytes, LEAST_BOUND)
    grown = 0.0
    for node in functions:
        name = _name(node)
        if name in SERIES:
            rows = series_rows(name, node, _arguments(node))
            if rows > MOST_SERIES_ROWS:
                raise Refusal(
                    "too_large",
                    f"{name} would give {rows:,.0f} rows, more than {MOST_SERIES_ROWS:,}: take a larger step or "
                    "narrow the range",
                )
        elif name in _GROWING or isinstance(node, exp.Cast):
            size = _size(node)
            # Several at once count together: they stand in memory at the same time.
            grown += size if size > max_bytes / 64 else 0
            if grown > bound:
                told = f"{grown:,.0f}" if math.isfinite(grown) else "endless"
                raise Refusal(
                    "too_large",
                    f"{name or 'a cast'} would make {told} bytes out of constants, more than the byte limit of "
                    f"{bound:,}: ask for less",
                )


def _name(node: exp.Expr) -> str:
    """The function's name in lower case, whether the parser knows the function or not."""
    if isinstance(node, (exp.Anonymous, exp.AnonymousAggFunc)):
        return node.name.lower()
    if isinstance(node, exp.Pad):
        return "lpad"
    return node.sql_name().lower() if isinstance(node, exp.Func) and not isinstance(node, exp.Cast) else ""


def _arguments(node: exp.Expr) -> list[exp.Expr]:
    """The arguments in the order in which they are written."""
    if isinstance(node, (exp.Anonymous, exp.AnonymousAggFunc)):
        return list(node.expressions)
    return [value for key in node.arg_types for value in (node.args.get(key),) if isinstance(value, exp.Expr)]


def _number(node: exp.Expr | None) -> float | None:
    """The number that an expression of constants is, roughly; None where it depends on anything else."""
    node = unwrapped(node)
    if isinstance(node, exp.Literal):
        try:
            return float(node.this)
        except ValueError:
            return None
    if isinstance(node, exp.Cast):
        return _number(node.this)
    if isinstance(node, exp.Neg):
        inner = _number(node.this)
        return None if inner is None else -inner
    operation = _OPERATIONS.get(type(node)) if node is not None else None
    if operation is None and node is not None and _name(node) in ("power", "pow"):
        operation = _power
    if node is None or operation is None:
        return None
    sides = [_number(item) for item in _arguments(node)[:2]]
    if len(sides) < 2 or sides[0] is None or sides[1] is None:
        return None
    try:
        return operation(sides[0], sides[1])
    except OverflowError:
        return math.inf
    except (ValueError, ZeroDivisionError):
        return None


def _power(left: float, right: float) -> float:
    found = left**right
    return found if isinstance(found, float) else math.nan  # a root of a negative number


_OPERATIONS: dict[type, Callable[[float, float], float]] = {
    exp.Add: lambda left, right: left + right,
    exp.Sub: lambda left, right: left - right,
    exp.Mul: lambda left, right: left * right,
    exp.Div: lambda left, right: left / right,
    exp.IntDiv: lambda left, right: left // right,
    exp.Pow: _power,
    exp.BitwiseLeftShift: lambda left, right: left * 2.0**right,
}


def _size(node: exp.Expr) -> float:
    """Bytes that a value has at least, as far as constants tell: what depends on data counts as one."""
    node = unwrapped(node) or node
    if isinstance(node, exp.Literal):
        return len(node.this)
    if isinstance(node, exp.Cast):
        return max(_size(node.this), _width_of(node.to))
    if isinstance(node, exp.Array):
        return math.fsum(_size(item) for item in node.expressions)
    if isinstance(node, (exp.DPipe, exp.Concat)) or _name(node) in ("concat", "concat_ws"):
        return math.fsum(_size(item) for item in node.iter_expressions())
    arguments = _arguments(node) if isinstance(node, exp.Func) else []
    grows = _GROWING.get(_name(node))
    if grows is not None and arguments:
        size = grows(arguments)
        return 0 if math.isnan(size) else size
    # Other functions give about as much as they take: upper(x), coalesce(x, y).
    return max((1.0, *(_size(item) for item in arguments)))


def _times(node: exp.Expr) -> float:
    number = _number(node)
    return max(number, 0.0) if number is not None else 1.0


def _repeated(arguments: list[exp.Expr]) -> float:
    return _size(arguments[0]) * (_times(arguments[1]) if len(arguments) > 1 else 1.0)


def _padded(arguments: list[exp.Expr]) -> float:
    return _times(arguments[1]) if len(arguments) > 1 else _size(arguments[0])


def _replaced(arguments: list[exp.Expr]) -> float:
    return _size(arguments[0]) * (max(1.0, _size(arguments[2])) if len(arguments) > 2 else 1.0)


def _filled(arguments: list[exp.Expr]) -> float:
    sides = arguments[1].unnest() if len(arguments) > 1 else None
    size = max(4.0, _size(arguments[0]))
    for side in sides.expressions if sides is not None else ():
        size *= max(1.0, _times(side))
    return size


def _formatted(arguments: list[exp.Expr]) -> float:
    text = arguments[0].unnest()
    if not isinstance(text, exp.Literal):
        return 1.0
    widths = _WIDTH.findall(text.this)
    given = (_number(item) for item in arguments[1:]) if "*" in widths else ()
    return math.fsum(
        (
            float(len(text.this)),
            *(float(width) for width in widths if width != "*"),
            *(abs(number) for number in given if number is not None),
        )
    )


def _width_of(kind: exp.DataType) -> float:
    """Characters that a type pads a value to."""
    named = kind.sql(dialect="postgres").lower()
    if named.split("(")[0] not in _CHARACTERS or named.startswith(("varchar", "text")):
        return 0
    length = kind.expressions[0].this if kind.expressions else None
    return _number(length) or 0 if isinstance(length, exp.Expr) else 0


_GROWING: dict[str, Callable[[list[exp.Expr]], float]] = {
    "repeat": _repeated,
    "replicate": _repeated,
    "lpad": _padded,
    "rpad": _padded,
    "space": lambda arguments: _times(arguments[0]),
    "replace": _replaced,
    "regexp_replace": _replaced,
    "array_fill": _filled,
    "format": _formatted,
}
