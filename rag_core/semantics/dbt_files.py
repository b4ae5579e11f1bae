"""Reads the YAML files of a dbt project that define semantic models and metrics; the rest of them is left alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from rag_core.datamodel.base import Record
from rag_core.errors import ConfigurationError
from rag_core.semantics.dbt_models import metrics_of, plain_metric, semantic_model_of

_SUFFIXES = (".yml", ".yaml")
_OUTPUT = frozenset(["target", "dbt_packages", "dbt_modules", "logs", "venv", "node_modules"])
META = "nightshift"
MAX_FILES, MAX_BYTES = 2_000, 2_000_000


class Note(Record):
    """What an import or export could not carry over, or carried over otherwise; `key` is the place it is about."""

    key: str
    message: str


class DbtProject(Record):
    """The semantic models and metrics found, as dbt writes them, and notes on files that could not be read."""

    semantic_models: tuple[dict[str, Any], ...] = ()
    metrics: tuple[dict[str, Any], ...] = ()
    notes: tuple[Note, ...] = ()


def read_project(path: Path) -> DbtProject:
    """Reads one file, or all YAML files below a folder (not what dbt wrote itself, not hidden folders).

    Raises ConfigurationError where the path is not there, where a file that was named cannot be read, or where nothing
    of a semantic layer is found.
    """
    if not path.exists():
        raise ConfigurationError(f"there is no file or folder {path}")
    models: list[dict[str, Any]] = []
    metrics: list[dict[str, Any]] = []
    notes: list[Note] = []
    for file in _files(path):
        try:
            document = _load(file)
        except ConfigurationError as error:
            if path.is_file():
                raise
            notes.append(Note(key=str(file), message=f"not read: {error}"))
            continue
        models += _entries(document, "semantic_models")
        metrics += [plain_metric(item) for item in _entries(document, "metrics")]
        for model in _entries(document, "models"):
            inside = semantic_model_of(model)
            if inside is not None:
                models.append(inside)
                metrics += metrics_of(model)
    if not models and not metrics:
        told = "".join(f"; {note.key}: {note.message}" for note in notes[:3])
        raise ConfigurationError(f"{path}: no semantic_models and no metrics were found{told}")
    return DbtProject(semantic_models=tuple(models), metrics=tuple(metrics), notes=tuple(notes))


def meta_of(item: dict[str, Any]) -> dict[str, Any]:
    """What an export of ours left in an entry."""
    meta = (item.get("config") or {}).get("meta") or {}
    found = meta.get(META) if isinstance(meta, dict) else None
    return found if isinstance(found, dict) else {}


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    count = 0
    for folder, names, files in os.walk(path):
        names[:] = sorted(name for name in names if name not in _OUTPUT and not name.startswith("."))
        for name in sorted(files):
            if name.endswith(_SUFFIXES):
                count += 1
                if count > MAX_FILES:
                    raise ConfigurationError(
                        f"{path} has more than {MAX_FILES} YAML files: name the folder of the models"
                    )
                yield Path(folder) / name


def _load(file: Path) -> dict[str, Any]:
    try:
        if file.stat().st_size > MAX_BYTES:
            raise ConfigurationError(f"{file} is larger than {MAX_BYTES // 1_000_000} MB")
        document = YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"cannot read {file}: {error}") from error
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 1
        raise ConfigurationError(f"{file}:{line}: {getattr(error, 'problem', None) or 'is not valid YAML'}") from error
    return document if isinstance(document, dict) else {}


def _entries(document: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The entries under a key that have a name and are not switched off."""
    found = document.get(key) or []
    entries = [item for item in found if isinstance(item, dict) and item.get("name")] if isinstance(found, list) else []
    return [item for item in entries if (item.get("config") or {}).get("enabled", True)]
