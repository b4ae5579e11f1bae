"""A line of earlier values beside a headline, as inline SVG. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from rag_core.reports.numbers import format_value

_WIDTH, _HEIGHT, _MARGIN = 120, 28, 3
MIN_POINTS = 2


def draw_sparkline(values: Sequence[float], *, unit: str = "", decimals: int | None = None) -> Markup | None:
    """The values from left to right, the last one as a dot; None where there are fewer than two."""
    if len(values) < MIN_POINTS:
        return None
    low, high = min(values), max(values)
    spread = (high - low) or 1.0
    step = (_WIDTH - 2 * _MARGIN) / (len(values) - 1)
    points = [
        (
            round(_MARGIN + step * index, 1),
            round(_HEIGHT - _MARGIN - (value - low) / spread * (_HEIGHT - 2 * _MARGIN), 1)
            if high > low
            else _HEIGHT / 2,
        )
        for index, value in enumerate(values)
    ]
    first, last = (format_value(value, decimals=decimals, unit=unit) for value in (values[0], values[-1]))
    return Markup(
        '<svg class="spark" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img"'
        ' aria-label="{label}"><polyline points="{points}"/><circle cx="{x}" cy="{y}" r="2.6"/></svg>'
    ).format(
        width=_WIDTH,
        height=_HEIGHT,
        label=f"{len(values)} runs, from {first} to {last}",
        points=" ".join(f"{x},{y}" for x, y in points),
        x=points[-1][0],
        y=points[-1][1],
    )
