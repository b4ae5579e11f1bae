"""A run as one self-contained HTML file. Pure: the same run gives the same text."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from rag_core.datamodel.evidence import ColumnMeaning, SqlEvidence
from rag_core.reports.bundle import AnsweredQuestion, History, PastValue, RunBundle
from rag_core.reports.charts import choose_chart, data_uri, describe_chart, draw_chart
from rag_core.reports.markup import answer_html, passage_html
from rag_core.reports.numbers import describe_change, format_value

MAX_TABLE_ROWS = 100

_STATE_TITLES = {
    "published": "Published",
    "quarantined": "Quarantined",
    "failed": "Failed",
    "needs_model": "Needs a model",
}
_STATUS_TITLES = {
    "answered": "Answered",
    "partial": "Partly answered",
    "no_evidence": "No evidence",
    "needs_model": "Needs a model",
    "refused": "Refused",
    "needs_clarification": "Needs clarification",
    "failed": "Failed",
}


def render_html(bundle: RunBundle, history: History) -> str:
    """The report. `history` holds earlier headline values by question, oldest first."""
    items = [_view(item, history.get(item.question.question_id, ())) for item in bundle.items]
    counts = {state: sum(item.outcome.state == state for item in bundle.items) for state in _STATE_TITLES}
    return (
        _environment()
        .get_template("report.html.j2")
        .render(bundle=bundle, items=items, counts=counts, state_titles=_STATE_TITLES)
    )


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


def _view(item: AnsweredQuestion, past: tuple[PastValue, ...]) -> dict[str, Any]:
    answer = item.answer
    anchor = f"q-{item.question.question_id}"
    decimals = _headline_decimals(item)
    headline = None
    if answer.headline_value is not None:
        headline = format_value(answer.headline_value, decimals=decimals, unit=answer.headline_unit)
    return {
        "anchor": anchor,
        "question": item.question,
        "answer": answer,
        "outcome": item.outcome,
        "status_title": _STATUS_TITLES[answer.status],
        "state_title": _STATE_TITLES[item.outcome.state],
        "body": Markup(answer_html(answer.text, anchor=anchor, markers=[c.marker for c in answer.citations])),
        "headline": headline,
        "change": describe_change(answer.headline_value, past[-1].value) if past else None,
        "previous": past[-1] if past else None,
        "charts": _charts(item),
        "results": [_result_view(evidence) for evidence in answer.sql],
        "passages": [
            {"passage": passage, "body": Markup(passage_html(passage.text, passage.quotes))}
            for passage in answer.documents
        ],
        "failed_checks": [check for check in item.outcome.checks if check.verdict in ("fail", "error")],
        "milliseconds": sum(entry.ms for entry in answer.trace),
    }


def _headline_decimals(item: AnsweredQuestion) -> int | None:
    for evidence in item.answer.sql:
        for meaning in evidence.meanings:
            if meaning.role == "metric" and meaning.unit == item.answer.headline_unit:
                return meaning.decimals
    return None


def _charts(item: AnsweredQuestion) -> list[dict[str, str]]:
    charts = []
    for evidence in item.answer.sql:
        spec = choose_chart(evidence, item.question.chart)
        if spec is not None:
            charts.append({"source": data_uri(draw_chart(spec)), "text": describe_chart(spec)})
    return charts


def _result_view(evidence: SqlEvidence) -> dict[str, Any]:
    known = {meaning.name: meaning for meaning in evidence.meanings}
    meanings = [
        known.get(column.name) or ColumnMeaning(name=column.name, label=column.name)
        for column in evidence.result.columns
    ]
    shown = evidence.result.rows[:MAX_TABLE_ROWS]
    return {
        "evidence": evidence,
        "headers": [f"{m.label} ({m.unit})" if m.unit else m.label for m in meanings],
        "numeric": [meaning.role == "metric" for meaning in meanings],
        "rows": [
            [format_value(cell, decimals=meaning.decimals) for cell, meaning in zip(row, meanings, strict=True)]
            for row in shown
        ],
        "left_out": evidence.result.row_count - len(shown),
    }
