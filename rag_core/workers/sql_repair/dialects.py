"""Calls of other databases' functions of dates and text, put as PostgreSQL has them. Pure.

What a call does stays the same, and the guard judges the new one like any other. The calls are read by their places
before the parser takes a unit such as day for a column. What is not known for sure stays as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import sqlglot
from sqlglot import exp

from rag_core.workers.sql_repair.mends import Mend
from rag_core.workers.sql_repair.shape import Shape

CONFIDENCE = 0.85
_MARK = "nightshift_"
_UNMARK = re.compile(rf"^{_MARK}", re.IGNORECASE)
_UNITS = {"second": 1, "minute": 60, "hour": 3600}
_PARTS = {"dayofmonth": "DAY", "dayofyear": "DOY", "hour": "HOUR", "minute": "MINUTE", "quarter": "QUARTER",
          "second": "SECOND", "week": "WEEK", "weekofyear": "WEEK"}  # fmt: skip
_STRFTIME = {"%Y": "YYYY", "%m": "MM", "%d": "DD", "%H": "HH24", "%M": "MI", "%S": "SS", "%j": "DDD", "%%": "%"}
_DATE_FORMAT = {"%Y": "YYYY", "%y": "YY", "%m": "MM", "%c": "FMMM", "%d": "DD", "%e": "FMDD", "%H": "HH24", "%i": "MI",
                "%s": "SS", "%S": "SS", "%b": "Mon", "%M": "FMMonth", "%a": "Dy", "%W": "FMDay", "%T": "HH24:MI:SS",
                "%%": "%"}  # fmt: skip
_SHIFT = re.compile(r"^[+-]?\s*\d+(?:\.\d+)?\s+(?:second|minute|hour|day|month|year)s?$", re.IGNORECASE)

_Args = Sequence[str]


def _text(value: str) -> str | None:
    """The inside of a written text, None for anything else."""
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] == "'" else None


def _unit(value: str) -> str | None:
    found = (_text(value) or value).strip('"').lower().removeprefix("sql_tsi_").removesuffix("s")
    return found if found in (*_UNITS, "day", "week", "month", "quarter", "year") else None


def _stamp(value: str) -> str:
    return "CURRENT_TIMESTAMP" if _text(value) == "now" else f"CAST({value} AS TIMESTAMP)"


def _between(unit: str | None, start: str, end: str) -> str | None:
    """Whole units from one time to another: days and longer by the calendar, shorter ones by the clock."""
    if unit is None:
        return None
    if unit in _UNITS:
        return f"FLOOR(EXTRACT(EPOCH FROM ({_stamp(end)} - {_stamp(start)})) / {_UNITS[unit]})"
    if unit in ("day", "week"):
        days = f"(CAST({end} AS DATE) - CAST({start} AS DATE))"
        return days if unit == "day" else f"({days} / 7)"
    years = f"(EXTRACT(YEAR FROM {_stamp(end)}) - EXTRACT(YEAR FROM {_stamp(start)}))"
    if unit == "year":
        return years
    part, count = ("MONTH", 12) if unit == "month" else ("QUARTER", 4)
    return f"({years} * {count} + EXTRACT({part} FROM {_stamp(end)}) - EXTRACT({part} FROM {_stamp(start)}))"


def _difference(args: _Args) -> str | None:
    """DATEDIFF of MySQL (end, start), of others (unit, start, end), of BigQuery (end, start, unit)."""
    if len(args) == 2:
        return _between("day", args[1], args[0])
    if len(args) != 3:
        return None
    first, last = _unit(args[0]), _unit(args[2])
    return _between(first, args[1], args[2]) if first else _between(last, args[1], args[0])


def _shifted(args: _Args) -> str | None:
    """DATEADD(unit, count, time)."""
    unit = _unit(args[0]) if len(args) == 3 else None
    if unit is None:
        return None
    unit, factor = ("month", 3) if unit == "quarter" else (unit, 1)
    time = args[2] if _text(args[2]) is None else _stamp(args[2])
    if re.fullmatch(r"-?\d+", args[1]):
        return f"{time} + INTERVAL '{int(args[1]) * factor} {unit}'"
    return f"({time} + ({args[1]}) * INTERVAL '{factor} {unit}')"


def _format(known: dict[str, str], template: str, time: str) -> str | None:
    """TO_CHAR by a template of signs, None where a sign has no equal; letters between them are quoted."""
    inside = _text(template)
    parts = re.findall(r"%.|[^%]+", inside) if inside is not None else []
    if not parts or any(part[0] == "%" and part not in known for part in parts):
        return None
    put = [known[part] if part[0] == "%" else re.sub(r"[A-Za-z]+", r'"\g<0>"', part) for part in parts]
    return f"TO_CHAR({_stamp(time)}, '{''.join(put)}')"


def _strftime(args: _Args) -> str | None:
    if len(args) == 3 and _text(args[2]) == "unixepoch":
        args = (args[0], f"(TO_TIMESTAMP({args[1]}) AT TIME ZONE 'UTC')")
    if len(args) == 2 and _text(args[0]) == "%w":
        return f"CAST(EXTRACT(DOW FROM {_stamp(args[1])}) AS TEXT)"
    return _format(_STRFTIME, args[0], args[1]) if len(args) == 2 else None


def _moved(kind: str) -> Callable[[_Args], str | None]:
    """DATE and DATETIME of SQLite: a time and what is done to it in turn."""

    def build(args: _Args) -> str | None:
        if not args:
            return None
        if len(args) == 1 and kind == "DATE" and _text(args[0]) != "now":
            return f"CAST({args[0]} AS DATE)"
        made = _stamp(args[0])
        for step in args[1:]:
            told = (_text(step) or "").strip().lower()
            if told.startswith("start of ") and told[9:] in ("day", "month", "year"):
                made = f"DATE_TRUNC('{told[9:]}', {made})"
            elif _SHIFT.match(told):
                made = f"({made} + INTERVAL '{told}')"
            else:
                return None
        return f"CAST({made} AS {kind})"

    return build


def _days(sign: str) -> Callable[[_Args], str | None]:
    """DATE_ADD and DATE_SUB by a bare number, which is one of days; by an interval they are understood already."""

    def build(args: _Args) -> str | None:
        bare = len(args) == 2 and re.fullmatch(r"\d+", args[1])
        return f"{args[0]} {sign} INTERVAL '{args[1]} day'" if bare else None

    return build


def _part(name: str) -> Callable[[_Args], str | None]:
    return lambda args: f"EXTRACT({name} FROM {_stamp(args[0])})" if len(args) == 1 else None


def _one(template: str) -> Callable[[_Args], str | None]:
    return lambda args: template.format(args[0], time=_stamp(args[0])) if len(args) == 1 else None


def _fixed(text: str) -> Callable[[_Args], str | None]:
    return lambda args: None if args else text


def _truncated(args: _Args) -> str | None:
    """DATE_TRUNC of BigQuery: the time first."""
    unit = _unit(args[1]) if len(args) == 2 and _unit(args[0]) is None else None
    return f"DATE_TRUNC('{unit}', {_stamp(args[0])})" if unit else None


_BUILDERS: dict[str, Callable[[_Args], str | None]] = {
    **{name: _part(part) for name, part in _PARTS.items()},
    **dict.fromkeys(("curdate", "today"), _fixed("CURRENT_DATE")),
    **dict.fromkeys(("getdate", "sysdate", "getutcdate", "current_datetime"), _fixed("CURRENT_TIMESTAMP")),
    **dict.fromkeys(("datediff", "date_diff", "timestamp_diff", "timestampdiff"), _difference),
    "dateadd": _shifted,
    "timestampadd": _shifted,
    "strftime": _strftime,
    "date_format": lambda args: _format(_DATE_FORMAT, args[1], args[0]) if len(args) == 2 else None,
    "date": _moved("DATE"),
    "datetime": _moved("TIMESTAMP"),
    "timestamp": _one("{time}"),
    "julianday": _one("(EXTRACT(EPOCH FROM {time}) / 86400.0)"),
    "dayofweek": _one("(EXTRACT(DOW FROM {time}) + 1)"),
    "weekday": _one("(EXTRACT(ISODOW FROM {time}) - 1)"),
    "dayname": _one("TO_CHAR({time}, 'FMDay')"),
    "monthname": _one("TO_CHAR({time}, 'FMMonth')"),
    "eomonth": _one("CAST(DATE_TRUNC('month', {time}) + INTERVAL '1 month' - INTERVAL '1 day' AS DATE)"),
    "date_trunc": _truncated,
    **dict.fromkeys(("date_add", "adddate"), _days("+")),
    **dict.fromkeys(("date_sub", "subdate"), _days("-")),
    "from_unixtime": _one("(TO_TIMESTAMP({0}) AT TIME ZONE 'UTC')"),
    "unix_timestamp": _one("EXTRACT(EPOCH FROM {time})"),
    "mode": _one("MODE() WITHIN GROUP (ORDER BY {0})"),
    "isnull": lambda args: f"COALESCE({args[0]}, {args[1]})" if len(args) == 2 else None,
}  # fmt: skip
_CALL = re.compile(rf"('(?:[^']|'')*'|\"[^\"]*\")|\b({'|'.join(_BUILDERS)})(?=\s*\()", re.IGNORECASE)
_TYPES = {"unsigned": "BIGINT", "signed": "BIGINT", "datetime": "TIMESTAMP", "string": "TEXT"}
_TYPE = re.compile(rf"('(?:[^']|'')*'|\"[^\"]*\")|\bAS\s+({'|'.join(_TYPES)})\s*\)", re.IGNORECASE)


def is_foreign_call(message: str) -> bool:
    """Whether a refusal is for a function that another database has and that is put otherwise here."""
    named = re.search(r"the function (\w+) is not known to be harmless", message)
    return named is not None and named[1].lower() in _BUILDERS


def translate_calls(sql: str, shape: Shape) -> tuple[exp.Query | None, list[Mend]]:
    """The statement with the calls that are known; None where there are none, or it cannot be read."""
    if shape.dialect != "postgres":
        return None, []
    marked = _CALL.sub(lambda found: found[1] or _MARK + found[2], sql)
    cast = any(found[2] for found in _TYPE.finditer(marked))
    marked = _TYPE.sub(lambda found: found[1] or f"AS {_TYPES[found[2].lower()]})", marked)
    if marked == sql:
        return None, []
    try:
        tree = sqlglot.parse_one(marked, dialect=shape.dialect)
    except sqlglot.errors.SqlglotError:
        return None, []
    if not isinstance(tree, exp.Query):
        return None, []
    mends = []
    calls = [node for node in tree.find_all(exp.Anonymous) if node.name.startswith(_MARK)]
    for node in reversed(calls):  # the inner ones first
        name = node.name.removeprefix(_MARK)
        before = _UNMARK.sub("", node.sql(dialect=shape.dialect))
        args = [item.sql(dialect=shape.dialect) for item in node.expressions]
        built = _BUILDERS[name.lower()](args)
        try:
            new = sqlglot.parse_one(built if built is not None else before, dialect=shape.dialect)
        except sqlglot.errors.SqlglotError:
            return None, []
        node.replace(new)
        after = new.sql(dialect=shape.dialect)
        if built is not None:
            mends.append(Mend(kind="dialect", before=before, after=after, confidence=CONFIDENCE))
    if not mends and not cast:
        return None, []
    return tree, mends or [Mend(kind="dialect", before=sql[-60:], after=tree.sql(shape.dialect)[-60:], confidence=0.9)]
