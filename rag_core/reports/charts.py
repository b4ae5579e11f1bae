"""Charts chosen from a result's shape: a line for a series, bars for a ranking, none otherwise. Drawn as SVG."""

from __future__ import annotations

import base64
import re
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal

from rag_core.datamodel.base import Record
from rag_core.datamodel.evidence import SqlEvidence
from rag_core.datamodel.question import ChartKind
from rag_core.reports.numbers import format_value
from rag_core.reports.rows import clean_text, meanings_of, with_unit
from rag_core.workers.figure_words import show_period

MIN_SERIES_POINTS = 3
MAX_BARS = 25
MAX_LINES = 8
# Drawn in the colours of a light page; a style inside the picture turns text and grid for a dark one.
_INK = "#4a5266"
_GRID = "#dfe3ec"
_DARK_STYLE = (
    "<style>@media (prefers-color-scheme: dark) { text { fill: #b6bed0 } .mark-rule line { stroke: #3a4257 } }</style>"
)
_PALETTE = ["#4f6df5", "#e0782f", "#1f9d76", "#c2479b", "#8a6d1d", "#3aa6c9", "#a3402f", "#6c5bd1"]
_CLIP = re.compile(r"""(id="clip|url\(#clip)(\d+)("|\))""")
_WIDTH = 390
# From here on an axis says 5M instead of 5,000,000.
_LARGE = 10_000
_PERIOD = re.compile(r"^\d{4}(-Q[1-4]|-\d{2}(-\d{2})?)?$")


class ChartSpec(Record):
    """What to draw: points as (x label, series label or None, y), `labels` being the values of y as people read them.

    `title` names what is shown, with its unit.
    """

    kind: Literal["line", "bar"]
    title: str
    x_label: str
    y_label: str
    points: tuple[tuple[str, str | None, float], ...]
    labels: tuple[str, ...]


def choose_chart(evidence: SqlEvidence, wanted: ChartKind = "auto") -> ChartSpec | None:
    """The chart that fits a result, or None where a table says it better.

    A time column with at least three rows makes a line; one dimension with two to 25 rows makes bars. The first
    metric column that holds numbers is drawn.
    """
    if wanted in ("table", "none"):
        return None
    roles = _roles(evidence)
    times = [index for index, role in roles if role == "time"]
    dimensions = [index for index, role in roles if role == "dimension"]
    metrics = [index for index, role in roles if role == "metric"]
    if not metrics or len(times) > 1 or len(dimensions) > 1 or not (times or dimensions):
        return None
    metric = metrics[0]
    rows = [row for row in evidence.result.rows if _number(row[metric]) is not None]
    if times:
        series = dimensions[0] if dimensions else None
        labels = {row[times[0]] for row in rows}
        lines = {row[series] for row in rows} if series is not None else set()
        if len(labels) < MIN_SERIES_POINTS or len(lines) > MAX_LINES or wanted == "bar":
            return None
        return _spec("line", evidence, rows, times[0], metric, series)
    if not 2 <= len(rows) <= MAX_BARS or wanted == "line":
        return None
    return _spec("bar", evidence, _rank(rows, dimensions[0], metric), dimensions[0], metric, None)


def _rank(rows: list[tuple[Any, ...]], dimension: int, metric: int) -> list[tuple[Any, ...]]:
    """Rows in alphabetical order are shown as a ranking; any other order was asked for and is kept."""
    names = [_text(row[dimension]) for row in rows]
    if names != sorted(names):
        return rows
    return sorted(rows, key=lambda row: -(_number(row[metric]) or 0.0))


# A run's charts are drawn before the batch is locked, then wanted once for each format of the report.
@lru_cache(maxsize=1_024)
def draw_chart(spec: ChartSpec) -> str:
    """The chart as an SVG document."""
    import vl_convert  # noqa: PLC0415 - heavy
    from altair.utils.schemapi import debug_mode  # noqa: PLC0415 - heavy

    # The specification is ours and tested; checking it against Vega-Lite's schema each time takes half of the time.
    with debug_mode(False):
        specification = _specify(spec)
    svg: str = vl_convert.vegalite_to_svg(specification)
    return _renumber(svg).replace(">", f">{_DARK_STYLE}", 1)


def _specify(spec: ChartSpec) -> dict[str, Any]:
    import altair as alt  # noqa: PLC0415 - heavy

    values = [
        {"x": x, "series": series or "", "y": y, "label": label}
        for (x, series, y), label in zip(spec.points, spec.labels, strict=True)
    ]
    order = list(dict.fromkeys(x for x, _, _ in spec.points))
    numbers = "~s" if max(abs(y) for _, _, y in spec.points) >= _LARGE else "~r"
    base = alt.Chart(alt.InlineData(values=values))
    if spec.kind == "line":
        many = len({series for _, series, _ in spec.points}) > 1
        chart = base.mark_line(point=len(order) <= 40, strokeWidth=2.2).encode(
            x=alt.X(
                "x:O", sort=order, title=spec.x_label, axis=alt.Axis(labelAngle=-35, labelOverlap=True, labelLimit=110)
            ),
            y=alt.Y(
                "y:Q",
                title=spec.y_label,
                scale=alt.Scale(zero=False, nice=True),
                axis=alt.Axis(format=numbers, tickCount=5),
            ),
            color=alt.Color("series:N", title=None, scale=alt.Scale(range=_PALETTE), legend=alt.Legend(orient="top"))
            if many
            else alt.value(_PALETTE[0]),
        )
        chart = chart.properties(width=_WIDTH, height=230)
    else:
        # Names keep their order and their bars; a name that comes twice (cut off, or NULL and "(none)") is one bar.
        bars = base.encode(
            y=alt.Y("x:N", sort=order, title=None, axis=alt.Axis(labelLimit=170, ticks=False, domain=False)),
            x=alt.X("y:Q", title=None, scale=alt.Scale(zero=True, nice=False), axis=None),
        )
        chart = (
            bars.mark_bar(color=_PALETTE[0], cornerRadiusEnd=3, height={"band": 0.72})
            + bars.mark_text(align="left", dx=5, color=_INK, fontSize=12).encode(text="label:N")
        ).properties(width=_WIDTH - 90, height=max(60, 28 * len(order)))
    chart = (
        chart.properties(title=alt.TitleParams(spec.title, anchor="start", color=_INK, fontSize=14, fontWeight=600))
        # A reader's font may be wider than the one that was measured: labels get room to be so.
        .configure(
            background="transparent",
            font="Helvetica, Arial, sans-serif",
            padding={"left": 26, "right": 40, "top": 6, "bottom": 10},
        )
        .configure_axis(
            labelColor=_INK,
            titleColor=_INK,
            gridColor=_GRID,
            domainColor=_GRID,
            tickColor=_GRID,
            labelFontSize=12.5,
            titlePadding=12,
        )
        .configure_legend(labelColor=_INK, titleColor=_INK, labelFontSize=12.5, symbolLimit=MAX_LINES)
        .configure_view(stroke=None)
    )
    specification: dict[str, Any] = chart.to_dict()
    return specification


def _renumber(svg: str) -> str:
    """The renderer numbers clip paths through the life of the process; the same chart shall be the same text."""
    numbers: dict[str, int] = {}
    return _CLIP.sub(lambda match: f"{match[1]}{numbers.setdefault(match[2], len(numbers) + 1)}{match[3]}", svg)


def data_uri(svg: str) -> str:
    """The SVG as a URL that needs no network; ids of several charts cannot meet."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def describe_chart(spec: ChartSpec) -> str:
    """Text for those who cannot see it: the title, the number of points, the highest and the lowest."""
    ranked = sorted(zip(spec.points, spec.labels, strict=True), key=lambda entry: entry[0][2])
    lowest, highest = ranked[0], ranked[-1]

    def name(entry: tuple[tuple[str, str | None, float], str]) -> str:
        (x, series, _), label = entry
        return f"{x}{f' ({series})' if series else ''}: {label}"

    kind = "Line chart" if spec.kind == "line" else "Bar chart"
    return f"{kind}: {spec.title}. {len(spec.points)} points; highest {name(highest)}, lowest {name(lowest)}."


def _roles(evidence: SqlEvidence) -> list[tuple[int, str]]:
    meanings = {meaning.name: meaning for meaning in evidence.meanings}
    roles: list[tuple[int, str]] = []
    for index, column in enumerate(evidence.result.columns):
        meaning = meanings.get(column.name)
        if meaning is not None and meaning.role != "other":
            roles.append((index, meaning.role))
        else:
            roles.append((index, _guess_role([row[index] for row in evidence.result.rows])))
    return roles


def _guess_role(cells: list[Any]) -> str:
    present = [cell for cell in cells if cell is not None]
    if not present:
        return "other"
    if all(_number(cell) is not None for cell in present):
        return "metric"
    if all(isinstance(cell, date | datetime) or (isinstance(cell, str) and _PERIOD.match(cell)) for cell in present):
        return "time"
    return "dimension"


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    number = float(value)
    return number if number == number and abs(number) != float("inf") else None


def _spec(
    kind: Literal["line", "bar"], evidence: SqlEvidence, rows: list[tuple[Any, ...]], x: int, y: int, series: int | None
) -> ChartSpec:
    labels = meanings_of(evidence)
    measure, axis = labels[y], labels[x]
    said = with_unit(measure)
    unit = said.removeprefix(measure.label)
    by = axis.label.lower() + (f" and {labels[series].label.lower()}" if series is not None else "")
    shown = [_period_text(row[x], axis.name) if kind == "line" else _text(row[x]) for row in rows]
    points = tuple(
        (name, None if series is None else _text(row[series]), _number(row[y]) or 0.0)
        for name, row in zip(shown, rows, strict=True)
    )
    return ChartSpec(
        kind=kind,
        title=f"{measure.label} by {by}{unit}",
        x_label=axis.label,
        y_label=said,
        points=points,
        labels=tuple(format_value(row[y], decimals=measure.decimals) for row in rows),
    )


def _period_text(value: Any, grain: str) -> str:
    day = value.date() if isinstance(value, datetime) else value
    return show_period(day, grain.lower()) if isinstance(day, date) else _text(value)


def _text(value: Any) -> str:
    if value is None:
        return "(none)"
    if isinstance(value, datetime):
        return value.date().isoformat()
    text = value.isoformat() if isinstance(value, date) else str(value)
    return clean_text(text)
