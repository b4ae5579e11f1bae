"""A run as a PDF: the same report for printing, mailing and filing. Typeset by Typst from data, never from markup."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from rag_core.errors import ConfigurationError
from rag_core.reports.bundle import History, RunBundle
from rag_core.reports.markup import plain_excerpt
from rag_core.reports.numbers import format_value
from rag_core.reports.render import question_view
from rag_core.reports.rows import clean_text, headings_below
from rag_core.reports.titles import VERDICT_TITLES, count_states

_TEMPLATE = Path(__file__).parent / "templates" / "report.typ"
# Paper is for reading: the HTML report and the tables have every row and the whole passage.
MAX_ROWS = 40
MAX_PASSAGE = 1_500
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_PERIOD = re.compile(r"(?:[A-Z]\w* )?\d{4}|\d{4}-\d{2}-\d{2}")
_DARK = re.compile(r"<style>@media \(prefers-color-scheme: dark\).*?</style>", re.DOTALL)
# Typst refuses what no text may hold; the same characters are taken out of the HTML report.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")

Run = dict[str, str]
Block = dict[str, Any]


def render_pdf(bundle: RunBundle, history: History) -> bytes:
    """The report as a tagged PDF on A4.

    Texts reach the typesetter as JSON data, so nothing in an answer, a row or a document can be taken for markup. The
    same run gives the same bytes: its creation date is that of the run's end. Raises ConfigurationError where the
    typesetter fails.
    """
    import typst  # noqa: PLC0415 - heavy

    data = json.dumps(_clean(_document(bundle, history)), ensure_ascii=False)
    try:
        pdf: bytes = typst.compile(
            _template(),
            sys_inputs={"data": data},
            format="pdf",
            pdf_tags=True,
            timestamp=int(bundle.finished_at.timestamp()),
        )
    except typst.TypstError as error:
        raise ConfigurationError(f"the PDF report cannot be set: {error}") from error
    return pdf


def text_blocks(markdown: str) -> list[Block]:
    """An answer's Markdown as blocks: paragraphs and headings with runs of text, lists, code, tables of runs.

    A run is `{text, style}`, its style one of plain, strong, emphasis and code. Raw HTML, links and images stay text.
    """
    return list(_blocks(SyntaxTreeNode(_parser().parse(markdown))))


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False})
    return parser.enable("table").disable(["link", "image", "autolink"])


@cache
def _template() -> bytes:
    return _TEMPLATE.read_bytes()


def _document(bundle: RunBundle, history: History) -> dict[str, Any]:
    items = [question_view(item, history.get(item.question.question_id, ())) for item in bundle.items]
    counts = count_states((item.outcome.state, item.answer.status) for item in bundle.items)
    batch, usage = bundle.batch, bundle.usage
    cost = f", {usage.cost_usd:.4f} USD" if usage.cost_usd is not None else ""
    return {
        "title": batch.title,
        "description": batch.description,
        "lead": " · ".join(
            part
            for part in (
                f"As of {bundle.run_date.day} {bundle.run_date:%B %Y}",
                batch.owner,
                f"for {batch.audience}" if batch.audience else "",
            )
            if part
        ),
        "counts": [f"{len(items)} question{'' if len(items) == 1 else 's'}"]
        + [f"{count} {words}" for _, count, words in counts],
        "items": [_item(view) for view in items],
        "foot": f"Run {bundle.run_id} · finished {bundle.finished_at:%Y-%m-%d %H:%M} UTC · {usage.model_calls} model "
        f"calls, {usage.prompt_tokens + usage.completion_tokens} tokens{cost}",
    }


def _item(view: dict[str, Any]) -> dict[str, Any]:
    answer, outcome = view["answer"], view["outcome"]
    kept_back = outcome.state == "quarantined"
    body = [] if kept_back else text_blocks(answer.text)
    headline = view["headline"] or ""
    row = view["headline_row"]
    change = f"{view['change']} since {view['change_since'].isoformat()}" if view["change"] else ""
    return {
        "title": view["title"],
        "asked": view["asked"],
        "badge": view["badge_title"],
        "kind": view["badge"],
        "glance": (f"{headline} ({row})" if row else headline) or view["summary"],
        "headline": headline,
        "change": " · ".join(part for part in (row, change) if part),
        "notices": list(_notices(view)),
        # Paper goes on to others: what the checks kept back is in the HTML report for whoever decides.
        "body": body,
        "charts": [] if kept_back else [{"svg": _DARK.sub("", c["svg"]), "text": c["text"]} for c in view["charts"]],
        "results": [] if kept_back else [_result(result, body, headline) for result in view["results"]],
        "passages": [] if kept_back else [_passage(entry["passage"]) for entry in view["passages"]],
        "checks": [
            [
                check.description or check.check_id,
                VERDICT_TITLES[check.verdict],
                check.severity,
                format_value(check.observed),
                format_value(check.threshold),
            ]
            for check in outcome.checks
            if check.verdict != "pass"
        ],
        "explanation": answer.explanation,
    }


def _notices(view: dict[str, Any]) -> Iterator[str]:
    outcome, review, last = view["outcome"], view["review"], view["last_good"]
    if outcome.state == "quarantined":
        yield f"Kept back: {outcome.reason}."
    if review is not None:
        yield f"{review.decision.capitalize()} by {review.reviewed_by}: {review.note}"
    if last is not None:
        value = "" if last.value is None else f": {format_value(last.value, unit=last.unit)}"
        yield f"The last published answer is of {last.run_date.isoformat()}{value}."
    for finding in view["answer"].findings:
        if finding.severity != "info":
            yield finding.message


def _result(result: dict[str, Any], body: Sequence[Block], headline: str) -> dict[str, Any]:
    evidence = result["evidence"]
    rows = result["rows"][:MAX_ROWS]
    left_out = evidence.result.row_count - len(rows)
    count = f"{evidence.result.row_count} row{'' if evidence.result.row_count == 1 else 's'}"
    single = len(rows) == 1 and len(rows[0]) == 1 and rows[0][0] in headline
    if not left_out and (single or any(_shows(block, rows) for block in body)):
        # Paper is read from its beginning to its end: rows that the answer shows are not set a second time.
        return {
            "marker": evidence.marker,
            "task": evidence.task,
            "headers": [],
            "numeric": [],
            "rows": [],
            "note": f"{count}, shown with the answer",
            "sql": evidence.sql,
        }
    return {
        "marker": evidence.marker,
        "task": evidence.task,
        "headers": result["headers"],
        "numeric": result["numeric"],
        "rows": rows,
        "note": count + (f", {left_out} not shown" if left_out else ""),
        "sql": evidence.sql,
    }


def _shows(block: Block, rows: Sequence[Sequence[str]]) -> bool:
    """Whether a block of the answer is a table of these rows; the answer writes a day that begins a period as such."""
    if block["kind"] != "table" or not rows:
        return False
    written = [["".join(run["text"] for run in cell).strip() for cell in row] for row in block["rows"][1:]]
    return [len(row) for row in written] == [len(row) for row in rows] and all(
        said == cell.strip() or (_DAY.fullmatch(cell) is not None and _PERIOD.fullmatch(said) is not None)
        for said_row, row in zip(written, rows, strict=True)
        for said, cell in zip(said_row, row, strict=True)
    )


def _passage(passage: Any) -> dict[str, Any]:
    quotes = [quote for quote in passage.quotes if quote]
    text = "\n".join(plain_excerpt(quote, MAX_PASSAGE) for quote in quotes or [passage.text])
    page = f", page {passage.page}" if passage.page else ""
    return {
        "marker": passage.marker,
        "title": " › ".join((passage.title, *headings_below(passage))),
        "where": f"{passage.path}{page}",
        "text": text if len(text) <= MAX_PASSAGE else f"{text[: MAX_PASSAGE - 1]}…",
    }


def _blocks(node: SyntaxTreeNode, depth: int = 0) -> Iterator[Block]:
    for child in node.children:
        if child.type in ("paragraph", "heading"):
            kind = child.type if child.type == "heading" or not depth else "item"
            yield {"kind": kind, "depth": depth, "runs": _inline(child)}
        elif child.type in ("fence", "code_block"):
            yield {"kind": "code", "text": child.content.rstrip("\n")}
        elif child.type == "table":
            rows = [row for part in child.children for row in part.children]
            right = ["right" in str(cell.attrs.get("style", "")) for cell in rows[0].children]
            cells = [[_inline(cell) for cell in row.children] for row in rows]
            yield {"kind": "table", "rows": cells, "numeric": right}
        else:
            yield from _blocks(child, depth + (child.type == "list_item"))


def _inline(node: SyntaxTreeNode) -> list[Run]:
    return [run for child in node.children if child.token is not None for run in _runs(child.token.children or [])]


def _runs(tokens: Sequence[Token]) -> list[Run]:
    runs: list[Run] = []
    styles: list[str] = []
    for token in tokens:
        if token.type in ("strong_open", "em_open"):
            styles.append("strong" if token.type == "strong_open" else "emphasis")
        elif token.type in ("strong_close", "em_close"):
            styles.pop()
        elif token.type == "code_inline":
            runs.append({"text": token.content, "style": "code"})
        elif token.type in ("softbreak", "hardbreak"):
            runs.append({"text": " " if token.type == "softbreak" else "\n", "style": "plain"})
        elif token.content:
            runs.append({"text": token.content, "style": styles[-1] if styles else "plain"})
    return runs


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return _FORBIDDEN.sub("\ufffd", clean_text(value))
    if isinstance(value, dict):
        return {key: _clean(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(part) for part in value]
    return value
