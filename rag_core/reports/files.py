"""Writes a report's file: whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from rag_core.errors import ConfigurationError
from rag_core.reports.bundle import History, RunBundle
from rag_core.reports.render import render_html


def write_report(bundle: RunBundle, history: History, folder: Path) -> Path:
    """Writes `<folder>/<batch>/<run date>.html`; a run that is not published is named by its run id as well."""
    name = bundle.run_date.isoformat() if bundle.published else f"{bundle.run_date.isoformat()}-{bundle.run_id[:8]}"
    path = folder / bundle.batch.batch / f"{name}.html"
    text = render_html(bundle, history)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{name}-", suffix=".html")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ConfigurationError(f"the report {path} cannot be written: {error.strerror}") from error
    return path.absolute()
