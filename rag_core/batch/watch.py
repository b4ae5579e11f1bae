"""The nightly look at the warehouse's schema: what changed, which standing questions it touches, what is repaired."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from rag_core.batch.definition import load_batch
from rag_core.connectors.base import Warehouse
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.base import Record
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.drift import Change, DriftReport, DriftRules, Lineage
from rag_core.datamodel.query import GuardVerdict
from rag_core.datamodel.question import Batch
from rag_core.errors import ConfigurationError, NightshiftError
from rag_core.schema.check import SchemaSource, store_clock
from rag_core.schema.document_schema import DocumentSchema
from rag_core.schema.drift import detect_drift
from rag_core.schema.impact import expectation_lineage
from rag_core.schema.lineage import read_plan_lineage
from rag_core.schema.profiles import Profiler, read_columns, renew_profiles
from rag_core.schema.repair import PlanRepair, Renames, pending_renames, repair_plans, undo_renames
from rag_core.schema.snapshots import find_snapshot, read_digests, read_tables
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.lineage import model_lineage

logger = logging.getLogger(__name__)


class SchemaNotChecked(NightshiftError):
    """The schema could not be compared with the accepted one; nothing is known to have changed, nothing is paused."""


class Watched(Record):
    """What the nightly look found, in counts and names.

    `documents` is the same for the document index. `questions` are the standing questions that a new breaking or risky
    change touches, by batch.
    """

    warehouse: DriftReport
    documents: DriftReport
    questions: dict[str, tuple[str, ...]] = {}

    @property
    def problem(self) -> str:
        """Why the warehouse's schema could not be compared, empty where it was."""
        report = self.warehouse
        if report.status == "incomplete":
            return f"the snapshot is incomplete and compared with nothing, so no question is paused: {report.reason}"
        return f"the snapshot is held, and no question is paused: {report.reason}" if report.status == "held" else ""


def standing_lineage(store: Store, model: SemanticModel, batches: Sequence[Batch]) -> tuple[Lineage, ...]:
    """What reads the schema besides kept plans: the semantic model, and the expectations of the batches' questions."""
    with store.connection() as connection:
        plans = read_plan_lineage(connection)
    expectations = [item for batch in batches for item in expectation_lineage(batch.questions, plans, batch.owner)]
    return (*model_lineage(model), *expectations)


def watch_schema(
    warehouse: SchemaSource,
    store: Store,
    *,
    rules: DriftRules,
    model: SemanticModel,
    batches: Sequence[Batch],
    actor: str = "system",
    profiler: Profiler | None = None,
) -> Watched:
    """One check of the warehouse and of the document index. Raises ServiceUnavailable where the store is gone.

    With a profiler, what the columns hold that questions read is kept for the next nights.
    """
    lineage = standing_lineage(store, model, batches)
    report = detect_drift(warehouse, store, rules=rules, lineage=lineage, actor=actor, profiler=profiler)
    if profiler is not None and report.status in ("baseline", "unchanged", "changed"):
        _keep_profiles(store, warehouse.dialect, lineage, profiler)
    documents = detect_drift(DocumentSchema(store), store, actor=actor)
    touched = touched_questions(store, report.changes, batches)
    return Watched(warehouse=report, documents=documents, questions=touched)


def _keep_profiles(store: Store, dialect: str, lineage: Sequence[Lineage], profiler: Profiler) -> None:
    with store.connection() as connection:
        columns = read_columns((*read_plan_lineage(connection), *lineage))
        row = connection.execute(statement("drift/find_warehouse"), {"prefix": f"{dialect}:"}).fetchone()
        last = find_snapshot(connection, row[0]) if row is not None else None
        if row is None or last is None:
            return
        digests = read_digests(connection, last.snapshot_id)
        wanted = [digest for key, digest in digests.items() if ".".join(key) in columns]
        tables = list(read_tables(connection, wanted).values())
        renew_profiles(connection, row[0], tables, columns, profiler, store_clock(connection))


def touched_questions(store: Store, changes: Sequence[Change], batches: Sequence[Batch]) -> dict[str, tuple[str, ...]]:
    """The questions of each batch that breaking and risky changes touch, by the kept plans of their texts and ids."""
    plans = {item.plan_id for change in changes if change.severity in ("breaking", "risky") for item in change.affected}
    with store.connection() as connection:
        rows = connection.execute(statement("drift/list_plan_questions")).fetchall()
    known = {name for plan_id, question_id, text in rows if plan_id in plans for name in (question_id, text) if name}
    found: defaultdict[str, list[str]] = defaultdict(list)
    for batch in batches:
        for question in batch.questions:
            if question.question_id in known or question.text in known:
                found[batch.batch].append(question.question_id)
    return {batch: tuple(ids) for batch, ids in found.items()}


def readable_batches(folder: Path) -> tuple[Batch, ...]:
    """The batches of a folder that can be read; a broken file is told of where batches are run, not here."""
    found = []
    for path in sorted(folder.glob("*.yaml")):
        try:
            found.append(load_batch(path))
        except ConfigurationError as error:
            logger.warning("left out: %s", error)
    return tuple(found)


def follow_renames(
    store: Store, warehouse: Warehouse, check: Callable[[str], GuardVerdict], now: Catalog
) -> tuple[tuple[PlanRepair, ...], Renames, Catalog]:
    """Repairs the kept plans that certain renames break.

    Args:
        store: where plans and events are kept.
        warehouse: where a repaired statement runs once before it replaces the old one.
        check: the SQL guard over the present schema.
        now: the present schema.

    Returns what became of each plan, the renames, and the schema under the earlier names.
    """
    renames = pending_renames(store, now)
    before = undo_renames(now, renames)
    return repair_plans(store, warehouse, check, renames, before=before, after=now), renames, before
