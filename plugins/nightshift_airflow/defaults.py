"""What every DAG file shares: default arguments, assets and the batch files. Cheap to import: DAGs are parsed often."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from rag_core.errors import ConfigurationError

ROOT = Path(__file__).resolve().parents[2]

DOCUMENTS_ASSET = "nightshift://documents"
SCHEMA_ASSET = "nightshift://warehouse-schema"
REPORTS_ASSET = "nightshift://reports/{batch}"

# Imports of torch, Docling and Great Expectations are paid once a task, so a task gets a group, never a single item.
DOCUMENTS_A_GROUP = 200
QUESTIONS_A_GROUP = 20

# One embedding task uses every core that it is given; more of them at a time only wait for one another and for memory.
EMBEDDING_POOL = "nightshift_embedding"
EMBEDDING_SLOTS = 2

DEFAULT_ARGS: dict[str, Any] = {
    "owner": "nightshift",
    # A killed process starts again; faults inside a question have their own bounded retry in the core.
    "retries": 1,
    "retry_delay": timedelta(seconds=10),
    "execution_timeout": timedelta(minutes=60),
}

# What a person may decide for a batch that waits because the warehouse's schema changed, and what that means.
DECISIONS: dict[str, str] = {
    "Keep the questions paused": "keep",
    "Use what replaced it": "replace",
    "Accept the change": "accept",
    "Fail the batch": "fail",
}

# The same bound as where the file is validated: a DAG file is parsed every half minute.
MAX_FILE_BYTES = 2_000_000

# What a batch may be called: the same as a question, as both become names in the warehouse's report tables.
_BATCH_NAME = re.compile(r"^[a-z][a-z0-9_]{0,62}$")


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
    after: tuple[str, ...] = ()
    catch_up_from: date | None = None
    deadline_minutes: int | None = None
    notifies: bool = False
    decision_minutes: int = 240

    @property
    def dag_id(self) -> str:
        """Id of the batch's DAG."""
        return f"batch_{self.batch}"


@dataclass(frozen=True)
class BrokenBatchFile:
    """A batch file that cannot be scheduled, and the one line that says why."""

    path: str
    problem: str

    @property
    def batch(self) -> str | None:
        """Name of the batch, None where no batch can be called as the file is."""
        stem = Path(self.path).stem
        return stem if _BATCH_NAME.match(stem) else None

    @property
    def dag_id(self) -> str:
        """Id of the DAG that shows the problem: that of the batch, or one that no batch can have."""
        if self.batch is not None:
            return f"batch_{self.batch}"
        stem = Path(self.path).stem
        digest = hashlib.sha256(stem.encode("utf-8", "surrogateescape")).hexdigest()[:6]
        return f"batch-{re.sub(r'[^A-Za-z0-9_.-]', '_', stem)}-{digest}"


def batches_folder() -> Path:
    """Folder of the batch files."""
    folder = Path(os.environ.get("NIGHTSHIFT_BATCH__FOLDER", "config/batches"))
    return folder if folder.is_absolute() else ROOT / folder


def read_batch_files(folder: Path | None = None) -> list[BatchFile]:
    """The heads of all batch files in order of their names.

    Only what the schedule needs is read here; the whole file is validated when it runs and by `nightshift batch
    validate`. Raises ConfigurationError with the file's name and reason at the first that is malformed.
    """
    return [read_batch_file(path) for path in sorted((folder or batches_folder()).glob("*.yaml"))]


def sort_batch_files(folder: Path | None = None) -> tuple[list[BatchFile], list[BrokenBatchFile]]:
    """The heads of the files that can be scheduled, and those that cannot: one bad file must not stop the rest."""
    good: list[BatchFile] = []
    broken: list[BrokenBatchFile] = []
    for path in sorted((folder or batches_folder()).glob("*.yaml")):
        try:
            good.append(read_batch_file(path))
        except ConfigurationError as error:
            broken.append(BrokenBatchFile(str(path), str(error)))
    return good, broken


def read_batch_file(path: Path) -> BatchFile:
    """The head of one batch file. Raises ConfigurationError with one line where it is malformed."""
    # Not at the top: the plugin imports this module whenever any Airflow process starts.
    from rag_core.batch.schedule import check_cron, check_timezone  # noqa: PLC0415

    if not _BATCH_NAME.match(path.stem):
        raise ConfigurationError(
            f"{path.name}: a batch file is named with small letters, digits and _, such as nightly_review.yaml"
        )
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ConfigurationError(f"{path.name}: a batch file may have at most {MAX_FILE_BYTES:,} bytes")
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except OSError as error:
        raise ConfigurationError(f"{path.name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{path.name} is not text in UTF-8") from None
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigurationError(f"{path.name} is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise ConfigurationError(f"{path.name} is not a mapping of title, owner, schedule and questions")
    return BatchFile(
        batch=path.stem,
        title=_text(path, content, "title", path.stem),
        description=_text(path, content, "description", ""),
        schedule=_checked(path, "schedule", _text(path, content, "schedule", ""), check_cron) or None,
        timezone=_checked(path, "timezone", _text(path, content, "timezone", "UTC"), check_timezone),
        owner=_text(path, content, "owner", "nightshift"),
        path=str(path),
        after=_after(path, content),
        catch_up_from=_day(path, content),
        deadline_minutes=_minutes(path, content, "deadline_minutes"),
        notifies=bool(content.get("notify")),
        decision_minutes=_minutes(path, content, "decision_minutes") or BatchFile.decision_minutes,
    )


def asset_of(source: str) -> str:
    """Address of the asset that a batch waits for: that of the documents, of the schema, or of another batch."""
    return {"documents": DOCUMENTS_ASSET, "warehouse_schema": SCHEMA_ASSET}.get(
        source, REPORTS_ASSET.format(batch=source)
    )


def _after(path: Path, content: dict[Any, Any]) -> tuple[str, ...]:
    value = content.get("after")
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(entry, str) and _BATCH_NAME.match(entry) for entry in value):
        raise ConfigurationError(f"{path.name}: after must be a list of documents, warehouse_schema and batches")
    if content.get("schedule"):
        raise ConfigurationError(f"{path.name}: a batch has a schedule or an `after`, not both")
    return tuple(value)


def _day(path: Path, content: dict[Any, Any]) -> date | None:
    value = content.get("catch_up_from")
    if value is not None and (not isinstance(value, date) or isinstance(value, datetime)):
        raise ConfigurationError(f"{path.name}: catch_up_from must be a day such as 2026-07-01")
    return value


def _minutes(path: Path, content: dict[Any, Any], key: str) -> int | None:
    value = content.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise ConfigurationError(f"{path.name}: {key} must be a number of minutes")
    return value


def _checked(path: Path, key: str, text: str, check: Callable[[str], str]) -> str:
    """The text as `nightshift batch validate` takes it, refused with the same words: Airflow has others for it."""
    try:
        return check(text) if text else text
    except ValueError as error:
        raise ConfigurationError(f"{path.name}: {key}: {error}") from None


def _text(path: Path, content: dict[Any, Any], key: str, default: str) -> str:
    value = content.get(key)
    if value is None:
        return default
    if not isinstance(value, str):
        raise ConfigurationError(f"{path.name}: {key} must be text, not {type(value).__name__}: put it in quotes")
    return value.strip()
