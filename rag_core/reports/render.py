"""A run as one self-contained HTML file. Pure: the same run gives the same text."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from rag_core.datamodel.evidence import SqlEvidence
from rag_core.reports.bundle import AnsweredQuestion, History, PastValue, RunBundle
from rag_core.reports.charts import choose_chart, data_uri, describe_chart, draw_chart
from rag_core.reports.markup import answer_html, passage_html, plain_excerpt
from rag_core.reports.numbers import describe_change, format_value
from rag_core.reports.rows import clean_text, heading_of, headings_below, headline_row, meanings_of, with_unit
from rag_core.reports.sparkline import draw_sparkline
from rag_core.reports.titles import VERDICT_TITLES, count_states, title_of

MAX_TABLE_ROWS = 100
MAX_SUMMARY = 170
# A table with more columns than these takes the whole width; its chart stands below it.
MAX_NARROW_COLUMNS = 3
_MARKER = re.compile(r"\s*\[[SD]\d+\]")
# Characters that no HTML document may hold; every other one is escaped where it means something.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]")


def render_html(bundle: RunBundle, history: History) -> str:
    """The report. `history` holds earlier headline values by question, oldest first."""
    items = [question_view(item, history.get(item.question.question_id, ())) for item in bundle.items]
    text = (
        _environment()
        .get_template("report.html.j2")
        .render(
            bundle=bundle,
            items=items,
            counts=count_states((item.outcome.state, item.answer.status) for item in bundle.items),
            verdict_titles=VERDICT_TITLES,
        )
    )
    return _FORBIDDEN.sub("\ufffd", clean_text(text))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["value"] = format_value
    return environment


def question_view(item: AnsweredQuestion, past: tuple[PastValue, ...], *, draw: bool = True) -> dict[str, Any]:
    """What a report shows of one question, as its templates read it; `past` holds earlier values, oldest first.

    Without `draw` no chart is drawn, which takes heavy libraries.
    """
    answer, outcome = item.answer, item.outcome
    anchor = f"q-{item.question.question_id}"
    published = outcome.state == "published"
    decimals = _headline_decimals(item)
    values = [past_value for past_value in past if past_value.value is not None]
    headline = change = None
    if published and answer.headline_value is not None and _is_single(item):
        headline = format_value(answer.headline_value, decimals=decimals, unit=answer.headline_unit)
        change = describe_change(answer.headline_value, values[-1].value) if values else None
    title, asked = heading_of(item.question, answer.question)
    markers = {evidence.marker for evidence in answer.sql} | {passage.marker for passage in answer.documents}
    return {
        "anchor": anchor,
        "title": title,
        "asked": asked,
        "question": item.question,
        "answer": answer,
        "outcome": outcome,
        "review": item.review,
        "badge": answer.status if published else outcome.state,
        "badge_title": title_of(outcome.state, answer.status),
        "summary": _summary(item),
        "body": Markup(answer_html(answer.text, anchor=anchor, markers=markers)),
        "headline": headline,
        "headline_row": headline_row(item.question, answer.sql) if headline is not None else "",
        "change": change,
        "change_since": values[-1].run_date if values else None,
        "spark": _sparkline(item, values, decimals) if headline is not None else None,
        "last_good": past[-1] if past and not published else None,
        "charts": _charts(item) if draw else [],
        "wide": any(len(evidence.result.columns) > MAX_NARROW_COLUMNS for evidence in answer.sql),
        "results": [_result_view(evidence) for evidence in answer.sql],
        "passages": [
            {
                "passage": passage,
                "path": headings_below(passage),
                "body": Markup(passage_html(passage.text, passage.quotes)),
            }
            for passage in answer.documents
        ],
        "failed_checks": [check for check in outcome.checks if check.verdict in ("fail", "error")],
        "milliseconds": sum(entry.ms for entry in answer.trace),
    }


def _summary(item: AnsweredQuestion) -> str:
    """The answer in a line: its first paragraph without markers, or why there is none."""
    if item.outcome.state == "quarantined":
        return "Kept back by the checks; a person decides."
    first = next((part for part in re.split(r"\n\s*\n", item.answer.text.strip()) if part.strip()), "")
    return plain_excerpt(_MARKER.sub("", first), MAX_SUMMARY)


def _is_single(item: AnsweredQuestion) -> bool:
    """Whether the headline says the whole: a large number beside a table of many would be taken for its total."""
    results = item.answer.sql
    return item.question.headline is not None or not results or results[0].result.row_count == 1


def _headline_decimals(item: AnsweredQuestion) -> int | None:
    for evidence in item.answer.sql:
        for meaning in evidence.meanings:
            if meaning.role == "metric" and meaning.unit == item.answer.headline_unit:
                return meaning.decimals
    return None


def _sparkline(item: AnsweredQuestion, past: list[PastValue], decimals: int | None) -> Markup | None:
    values = [past_value.value for past_value in past] + [item.answer.headline_value]
    numbers = [
        float(value) for value in values if isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    ]
    return draw_sparkline(numbers, unit=item.answer.headline_unit, decimals=decimals)


def _charts(item: AnsweredQuestion) -> list[dict[str, str]]:
    charts = []
    for evidence in item.answer.sql:
        spec = choose_chart(evidence, item.question.chart)
        if spec is not None:
            svg = draw_chart(spec)
            charts.append({"svg": svg, "source": data_uri(svg), "text": describe_chart(spec)})
    return charts


def _result_view(evidence: SqlEvidence) -> dict[str, Any]:
    meanings = meanings_of(evidence)
    shown = evidence.result.rows[:MAX_TABLE_ROWS]
    numeric = [
        any(isinstance(row[index], int | float | Decimal) and not isinstance(row[index], bool) for row in shown)
        for index in range(len(meanings))
    ]
    return {
        "evidence": evidence,
        "headers": [with_unit(meaning) for meaning in meanings],
        "numeric": numeric,
        "rows": [
            [format_value(cell, decimals=meaning.decimals) for cell, meaning in zip(row, meanings, strict=True)]
            for row in shown
        ],
        "left_out": evidence.result.row_count - len(shown),
    }
