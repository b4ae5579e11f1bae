"""What changed in a warehouse's schema, whom it touches and what became of it."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from rag_core.datamodel.base import Record

DriftSeverity = Literal["breaking", "risky", "compatible", "cosmetic"]
DriftStatus = Literal["baseline", "unchanged", "changed", "incomplete", "held"]
EventState = Literal["open", "noted", "accepted", "rejected", "mapped", "reverted", "superseded"]
Effect = Literal["breaks", "may_change_answer"]
OnBreaking = Literal["pause", "wait", "fail", "answer"]
LineageKind = Literal["plan", "metric", "dimension", "verified_query", "expectation"]
ChangeKind = Literal[
    "table_added",
    "table_removed",
    "table_renamed",
    "table_moved",
    "table_recreated",
    "table_kind_changed",
    "column_added",
    "column_removed",
    "column_renamed",
    "column_recreated",
    "column_order_changed",
    "type_widened",
    "type_narrowed",
    "type_changed",
    "became_nullable",
    "became_not_null",
    "default_changed",
    "generation_changed",
    "comment_changed",
    "enum_value_added",
    "enum_value_removed",
    "enum_value_renamed",
    "enum_order_changed",
    "primary_key_changed",
    "unique_key_added",
    "unique_key_removed",
    "foreign_key_added",
    "foreign_key_removed",
    "foreign_key_changed",
    "partition_key_changed",
    "view_definition_changed",
    "access_lost",
    "access_gained",
    "monitoring_started",
    "monitoring_stopped",
    "mass_disappearance",
]


class RenameCandidate(Record):
    """Something that may be the new name of what vanished. `score` lies between 0 and 1."""

    object: str
    score: float
    reason: str = ""


class Lineage(Record):
    """What one plan, metric, dimension, verified query or expectation reads.

    `tables` are `schema.table` and `columns` `schema.table.column`, as the catalog spells them. `reads_all` holds the
    tables that are read with `*`, whose columns nobody names.
    """

    kind: LineageKind
    id: str
    question_id: str | None = None
    tables: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    reads_all: tuple[str, ...] = ()
    owner: str = ""


class Affected(Record):
    """Somebody whom a change touches; which of the three ids is set follows from `kind`."""

    plan_id: str | None = None
    question_id: str | None = None
    metric: str | None = None
    kind: LineageKind = "plan"
    id: str = ""
    owner: str = ""
    effect: Effect = "breaks"


class Change(Record):
    """One difference between two snapshots.

    `change_id` is a fingerprint of object, kind, before and after, the same whenever the difference is found again.
    `object` is what changed, under its earlier name (its new one where it was added): `schema.table` or
    `schema.table.column`; `table` and `column` are its parts, exactly as the catalog spells them, `table` always under
    the earlier name. For renames `before` and `after` are the two names. `confidence` is 1 for what the catalog proves.
    """

    change_id: str
    kind: ChangeKind
    object: str
    before: str | None = None
    after: str | None = None
    severity: DriftSeverity
    confidence: float = 1.0
    candidates: tuple[RenameCandidate, ...] = ()
    affected: tuple[Affected, ...] = ()
    table: str = ""
    column: str | None = None


class DriftEvent(Record):
    """A change that was recorded, with its state; `decided_by` and `note` tell of the decision."""

    event_id: int
    change: Change
    state: EventState
    snapshot_id: int
    opened_at: datetime
    last_seen_at: datetime
    closed_at: datetime | None = None
    decided_by: str | None = None
    note: str = ""


class DriftReport(Record):
    """The outcome of one drift check.

    `changes` are the differences that this check found for the first time; `open_events` counts what waits for a
    decision, from earlier checks too; `reverted` are ids of events that this check closed because the schema went back.
    `reachable` is False where the warehouse could not be reached at all.
    """

    snapshot_id: int | None
    status: DriftStatus
    changes: tuple[Change, ...] = ()
    reason: str = ""
    open_events: int = 0
    reverted: tuple[int, ...] = ()
    reachable: bool = True
    fingerprint: str = ""


class DriftRules(Record):
    """What counts as drift and how grave it is; the section `drift` of the policy file.

    `severities` overrides the severity of a kind. Patterns of `schema.table` and `schema.table.column` with `*` for any
    characters name what is not watched. A snapshot in which more than `hold_share` of the tables, and at least
    `hold_minimum` of them, have vanished is held until somebody confirms it. A rename that nothing proves is proposed
    from `rename_threshold` on.

    A breaking change that touches a batch, and that nothing proves to be a rename, leads by `on_breaking` to a pause of
    just the questions that it touches, to a pause until somebody has decided in Airflow (wait), to a failed batch, or
    to nothing: they are answered as far as they can be. A batch file may say otherwise. A batch that starts more than
    `max_age_minutes` after the last check of the schema has it checked first.
    """

    on_breaking: OnBreaking = "pause"
    max_age_minutes: int = Field(default=90, ge=0)
    severities: dict[ChangeKind, DriftSeverity] = {}
    ignore_tables: tuple[str, ...] = ("*.*_tmp", "*.tmp_*", "*.*__new", "*.*__old", "*._airbyte_raw_*")
    ignore_columns: tuple[str, ...] = (
        "*.*._ab_cdc_*",
        "*.*._airbyte_*",
        "*.*._dlt_*",
        "*.*._fivetran_*",
        "*.*._sdc_*",
        "*.*.__hevo_*",
        "*.*._rivery_*",
    )
    hold_share: float = Field(default=0.3, gt=0, le=1)
    hold_minimum: int = Field(default=3, ge=1)
    rename_threshold: float = Field(default=0.8, gt=0, le=1)
