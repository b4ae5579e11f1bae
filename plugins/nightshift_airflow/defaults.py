"""What every DAG file shares: default arguments, assets and the batch files. Cheap to import, as DAGs are parsed often."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]

DOCUMENTS_ASSET = "nightshift://documents"
SCHEMA_ASSET = "nightshift://warehouse-schema"
REPORTS_ASSET = "nightshift://reports/{batch}"

# Imports of torch, Docling and Great Expectations are paid once a task, so a task gets a group, never a single item.
DOCUMENTS_A_GROUP = 200
QUESTIONS_A_GROUP = 20

DEFAULT_ARGS: dict[str, Any] = {
    "owner": "nightshift",
    # A killed process starts again; faults inside a question have their own bounded retry in the core.
    "retries": 1,
    "retry_delay": timedelta(seconds=10),
    "execution_timeout": timedelta(minutes=60),
}


@dataclass(frozen=True)
class BatchFile:
    """What a DAG needs to know of a batch file before any of it runs."""

    batch: str
    title: str
    description: str
    schedule: str | None
    timezone: str
    owner: str
    path: str


def batches_folder() -> Path:
    """Folder of the batch files."""
    folder = Path(os.environ.get("NIGHTSHIFT_BATCH__FOLDER", "config/batches"))
    return folder if folder.is_absolute() else ROOT / folder


def read_batch_files(folder: Path | None = None) -> list[BatchFile]:
    """The heads of all batch files in order of their names.

    Only what the schedule needs is read here; the whole file is validated when it runs and by `nightshift batch
    validate`. Raises ValueError with the file's name where it is not a mapping or not YAML.
    """
    found = []
    for path in sorted((folder or batches_folder()).glob("*.yaml")):
        try:
            content = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except yaml.YAMLError as error:
            raise ValueError(f"{path.name} is not YAML: {' '.join(str(error).split())}") from None
        if not isinstance(content, dict):
            raise ValueError(f"{path.name} is not a mapping of title, owner, schedule and questions")
        found.append(
            BatchFile(
                batch=path.stem,
                title=str(content.get("title", path.stem)),
                description=str(content.get("description", "")),
                schedule=content.get("schedule"),
                timezone=str(content.get("timezone", "UTC")),
                owner=str(content.get("owner", "nightshift")),
                path=str(path),
            )
        )
    return found
