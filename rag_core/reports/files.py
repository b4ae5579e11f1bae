"""Writes a report's files: each whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rag_core.errors import ConfigurationError
from rag_core.reports.bundle import History, RunBundle
from rag_core.reports.markdown import render_markdown
from rag_core.reports.render import render_html


def report_path(bundle: RunBundle, folder: Path) -> Path:
    """`<folder>/<batch>/<run date>.html`; a run that is not published is named by its run id as well."""
    name = bundle.run_date.isoformat() if bundle.published else f"{bundle.run_date.isoformat()}-{bundle.run_id[:8]}"
    return (folder / bundle.batch.batch / f"{name}.html").absolute()


def render_reports(bundle: RunBundle, history: History, path: Path) -> dict[Path, str]:
    """The HTML report, to be written to `path`, and the Markdown one, to be written beside it."""
    return {path.with_suffix(".md"): render_markdown(bundle, history), path: render_html(bundle, history)}


def write_reports(texts: Mapping[Path, str]) -> None:
    """Writes each text to its file; raises ConfigurationError where it cannot."""
    for target, text in texts.items():
        try:
            _replace(target, text)
        except OSError as error:
            raise ConfigurationError(f"the report {target} cannot be written: {error.strerror}") from error


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
