"""Charts chosen from a result's shape: a line for a series, bars for a ranking, none otherwise. Drawn as SVG."""

from __future__ import annotations

import base64
import re
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal

from rag_core.datamodel.base import Record
from rag_core.datamodel.evidence import ColumnMeaning, SqlEvidence
from rag_core.datamodel.question import ChartKind

MIN_SERIES_POINTS = 3
MAX_BARS = 25
MAX_LINES = 8
# Readable on a light and on a dark page alike.
_INK = "#7a8194"
_GRID = "#7a819433"
_PALETTE = ["#4f6df5", "#e0782f", "#1f9d76", "#c2479b", "#8a6d1d", "#3aa6c9", "#a3402f", "#6c5bd1"]
_PERIOD = re.compile(r"^\d{4}(-Q[1-4]|-\d{2}(-\d{2})?)?$")


class ChartSpec(Record):
    """What to draw: points as (x label, series label or None, y). `title` names what is shown, with its unit."""

    kind: Literal["line", "bar"]
    title: str
    x_label: str
    y_label: str
    points: tuple[tuple[str, str | None, float], ...]


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
    return _spec("bar", evidence, rows, dimensions[0], metric, None)


def draw_chart(spec: ChartSpec) -> str:
    """The chart as an SVG document."""
    import altair as alt  # noqa: PLC0415 - heavy
    import vl_convert  # noqa: PLC0415 - heavy

    values = [{"x": x, "series": series or "", "y": y} for x, series, y in spec.points]
    order = list(dict.fromkeys(x for x, _, _ in spec.points))
    base = alt.Chart(alt.Data(values=values))
    if spec.kind == "line":
        many = len({series for _, series, _ in spec.points}) > 1
        chart = base.mark_line(point=len(order) <= 40, strokeWidth=2.2).encode(
            x=alt.X("x:O", sort=order, title=spec.x_label, axis=alt.Axis(labelAngle=-40, labelOverlap=True)),
            y=alt.Y("y:Q", title=spec.y_label, scale=alt.Scale(zero=False, nice=True)),
            color=alt.Color("series:N", title=None, scale=alt.Scale(range=_PALETTE))
            if many
            else alt.value(_PALETTE[0]),
        )
        chart = chart.properties(width=640, height=260)
    else:
        chart = base.mark_bar(color=_PALETTE[0], cornerRadiusEnd=3).encode(
            y=alt.Y("x:N", sort=order, title=None, axis=alt.Axis(labelLimit=220)),
            x=alt.X("y:Q", title=spec.y_label, scale=alt.Scale(zero=True, nice=True)),
        )
        chart = chart.properties(width=520, height=max(60, 26 * len(order)))
    chart = (
        chart.properties(title=alt.TitleParams(spec.title, anchor="start", color=_INK, fontSize=14, fontWeight=600))
        .configure(background="transparent", font="Helvetica, Arial, sans-serif")
        .configure_axis(
            labelColor=_INK, titleColor=_INK, gridColor=_GRID, domainColor=_INK, tickColor=_INK, labelFontSize=12
        )
        .configure_legend(labelColor=_INK, titleColor=_INK, labelFontSize=12)
        .configure_view(stroke=None)
    )
    svg: str = vl_convert.vegalite_to_svg(chart.to_dict())
    return svg


def data_uri(svg: str) -> str:
    """The SVG as a URL that needs no network; ids of several charts cannot meet."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def describe_chart(spec: ChartSpec) -> str:
    """Text for those who cannot see it: the title, the number of points, the highest and the lowest."""
    highest = max(spec.points, key=lambda point: point[2])
    lowest = min(spec.points, key=lambda point: point[2])

    def name(point: tuple[str, str | None, float]) -> str:
        return f"{point[0]}{f' ({point[1]})' if point[1] else ''}: {point[2]:,.2f}"

    kind = "Line chart" if spec.kind == "line" else "Bar chart"
    return f"{kind}: {spec.title}. {len(spec.points)} points; highest {name(highest)}, lowest {name(lowest)}."


def _roles(evidence: SqlEvidence) -> list[tuple[int, str]]:
    meanings = {meaning.name: meaning for meaning in evidence.meanings}
    roles = []
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
    labels = _meanings(evidence)
    measure, axis = labels[y], labels[x]
    unit = f" ({measure.unit})" if measure.unit else ""
    by = axis.label.lower() + (f" and {labels[series].label.lower()}" if series is not None else "")
    points = tuple(
        (_text(row[x]), None if series is None else _text(row[series]), _number(row[y]) or 0.0) for row in rows
    )
    return ChartSpec(
        kind=kind,
        title=f"{measure.label} by {by}{unit}",
        x_label=axis.label,
        y_label=f"{measure.label}{unit}",
        points=points,
    )


def _meanings(evidence: SqlEvidence) -> list[ColumnMeaning]:
    known = {meaning.name: meaning for meaning in evidence.meanings}
    return [
        known.get(column.name) or ColumnMeaning(name=column.name, label=column.name.replace("_", " ").capitalize())
        for column in evidence.result.columns
    ]


def _text(value: Any) -> str:
    if value is None:
        return "(none)"
    if isinstance(value, datetime):
        return value.date().isoformat()
    return value.isoformat() if isinstance(value, date) else str(value)
