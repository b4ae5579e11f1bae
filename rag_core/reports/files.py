"""Writes a report's files: each whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from rag_core.datamodel.answer import Answer
from rag_core.datamodel.question import Question
from rag_core.errors import ConfigurationError
from rag_core.reports.bundle import History, RunBundle
from rag_core.reports.charts import choose_chart, draw_chart
from rag_core.reports.markdown import render_markdown
from rag_core.reports.pdf import render_pdf
from rag_core.reports.render import render_html


def report_path(bundle: RunBundle, folder: Path) -> Path:
    """`<folder>/<batch>/<run date>.html`; a run that is not published is named by its run id as well."""
    name = bundle.run_date.isoformat() if bundle.published else f"{bundle.run_date.isoformat()}-{bundle.run_id[:8]}"
    return (folder / bundle.batch.batch / f"{name}.html").absolute()


def draw_charts(answered: Iterable[tuple[Question, Answer]]) -> None:
    """Draws what the reports will show, ahead of the moment when others wait for them."""
    for question, answer in answered:
        for evidence in answer.sql:
            spec = choose_chart(evidence, question.chart)
            if spec is not None:
                draw_chart(spec)


def render_reports(bundle: RunBundle, history: History, path: Path) -> dict[Path, bytes]:
    """The HTML report, to be written to `path`, and beside it the Markdown one and, if the batch wants it, the PDF."""
    reports = {path.with_suffix(".md"): _encode(render_markdown(bundle, history))}
    if bundle.batch.pdf:
        reports[path.with_suffix(".pdf")] = render_pdf(bundle, history)
    return {**reports, path: _encode(render_html(bundle, history))}


def write_reports(reports: Mapping[Path, bytes]) -> None:
    """Writes each report to its file; raises ConfigurationError where it cannot."""
    for target, content in reports.items():
        try:
            _replace(target, content)
        except OSError as error:
            raise ConfigurationError(f"the report {target} cannot be written: {error.strerror}") from error


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _replace(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
