"""Repairs what a proven rename breaks: statements, the semantic model's file, and kept plans.

A repaired plan runs against the data before it takes the old one's place, and it comes as a draft: a person approves it
as any other. A plan that cannot be repaired for certain is marked stale, so that its question is planned again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Literal

import psycopg
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from rag_core.connectors.base import Warehouse
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.base import Record
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.plan import Plan, SqlStep
from rag_core.datamodel.query import GuardVerdict
from rag_core.errors import QueryFault
from rag_core.schema.events import read_renames
from rag_core.schema.fingerprint import table_fingerprint
from rag_core.schema.patch import Patch, propose_patch
from rag_core.schema.renames import Renames, chain_renames, undo_renames
from rag_core.schema.rewrite import RepairFault, Rewritten, rewrite_sql

__all__ = [
    "Patch",
    "PlanRepair",
    "Renames",
    "RepairFault",
    "Rewritten",
    "pending_renames",
    "propose_patch",
    "repair_plans",
    "rewrite_sql",
    "undo_renames",
]


class PlanRepair(Record):
    """What became of one kept plan.

    `repaired`: `new_plan_id` is the draft that replaced it, its statements before and after are in `statements`.
    `follows_model`: its SQL is compiled from metrics, so that it is right again with the semantic model's patch.
    `stale`: it could not be repaired for certain; `reason` says why.
    """

    plan_id: str
    question: str
    outcome: Literal["repaired", "follows_model", "stale"]
    new_plan_id: str | None = None
    statements: tuple[tuple[str, str], ...] = ()
    reason: str = ""


def repair_plans(
    store: Store,
    warehouse: Warehouse,
    check: Callable[[str], GuardVerdict],
    renames: Renames,
    *,
    before: Catalog,
    after: Catalog,
    now: datetime | None = None,
) -> tuple[PlanRepair, ...]:
    """Repairs every plan in use that reads a renamed table or column.

    Args:
        store: where plans are kept.
        warehouse: where the repaired statements run once.
        check: the SQL guard over the present schema.
        renames: proven or confirmed renames, by their earlier names.
        before: the schema that the plans were made for.
        after: the present schema.
        now: time of the repair.

    Raises:
        ServiceUnavailable: the store or the warehouse does not answer; nothing was changed then.
    """
    moment = now if now is not None else datetime.now(UTC)
    touched = sorted({*renames.tables, *(table for table, _ in renames.columns)})
    if not touched:
        return ()
    with store.connection() as connection:
        with connection.cursor(row_factory=dict_row) as cursor:
            rows = cursor.execute(statement("drift/list_plans"), {"tables": touched}).fetchall()
        return tuple(
            _repair(connection, row, warehouse, check, renames, before, after, moment)
            for row in rows
            if _is_touched(row, renames)
        )


def pending_renames(store: Store, now: Catalog) -> Renames:
    """What is certain to have another name now, from every earlier name that a plan or the semantic model may use.

    Args:
        store: where events are kept.
        now: the present schema.
    """
    with store.connection() as connection:
        changes = read_renames(connection, f"{now.dialect}:{now.database}")
    return chain_renames(changes, now)


def _is_touched(row: dict[str, Any], renames: Renames) -> bool:
    columns = {f"{table}.{column}" for table, column in renames.columns}
    return bool(set(row["tables"]) & set(renames.tables) or set(row["columns"]) & columns)


def _repair(
    connection: psycopg.Connection,
    row: dict[str, Any],
    warehouse: Warehouse,
    check: Callable[[str], GuardVerdict],
    renames: Renames,
    before: Catalog,
    after: Catalog,
    moment: datetime,
) -> PlanRepair:
    kept = Plan.model_validate(row["plan"])
    written = [step for step in kept.steps if isinstance(step, SqlStep) and step.sql is not None]
    if not written:
        return PlanRepair(
            plan_id=row["plan_id"],
            question=row["question"],
            outcome="follows_model",
            reason="its figures are defined in the semantic model, which is to be patched",
        )
    try:
        repaired, statements = _rewrite(kept, dict(row["statements"]), warehouse.dialect, renames, before)
        for text in [*(text for _, text in statements.values())]:
            _run(text, warehouse, check)
    except (RepairFault, QueryFault) as fault:
        reason = f"the schema changed and the plan could not be repaired: {fault}"
        connection.execute(
            statement("drift/end_plan"),
            {"plan_id": row["plan_id"], "state": "stale", "reason": reason, "moment": moment},
        )
        return PlanRepair(plan_id=row["plan_id"], question=row["question"], outcome="stale", reason=reason)
    new_id = _plan_id(row["plan_id"], repaired)
    tables = [renames.table(table) for table in row["tables"]]
    connection.execute(
        statement("drift/end_plan"),
        {
            "plan_id": row["plan_id"],
            "state": "retired",
            "reason": f"repaired as {new_id} after a rename",
            "moment": moment,
        },
    )
    connection.execute(
        statement("drift/insert_plan"),
        {
            **{name: row[name] for name in ("question_key", "question", "question_id", "strategy")},
            "plan_id": new_id,
            "plan": Jsonb(repaired.model_copy(update={"plan_id": new_id}).model_dump(mode="json")),
            "statements": Jsonb({step: text for step, (_, text) in statements.items()}),
            "tables": tables,
            "columns": [_column(name, renames) for name in row["columns"]],
            "fingerprints": Jsonb(_fingerprints(row["fingerprints"], tables, after)),
            "reason": f"repaired from {row['plan_id']} after a rename; it ran once",
            "moment": moment,
        },
    )
    return PlanRepair(
        plan_id=row["plan_id"],
        question=row["question"],
        outcome="repaired",
        new_plan_id=new_id,
        statements=tuple(statements.values()),
    )


def _rewrite(
    kept: Plan, statements: dict[str, str], dialect: str, renames: Renames, before: Catalog
) -> tuple[Plan, dict[str, tuple[str, str]]]:
    """The plan with its SQL rewritten, and by step the statement that ran last before and after."""

    def follow(text: str) -> str:
        return rewrite_sql(text, dialect, renames, catalog=before, search_path=before.search_path).sql

    steps = tuple(
        step.model_copy(update={"sql": follow(step.sql)})
        if isinstance(step, SqlStep) and step.sql is not None
        else step
        for step in kept.steps
    )
    ran = dict(statements)
    for step in kept.steps:
        if isinstance(step, SqlStep) and step.sql is not None:
            ran.setdefault(step.step_id, step.sql)
    return kept.model_copy(update={"steps": steps}), {step: (text, follow(text)) for step, text in sorted(ran.items())}


def _run(text: str, warehouse: Warehouse, check: Callable[[str], GuardVerdict]) -> None:
    """Runs a repaired statement through the guard. Raises RepairFault or QueryFault."""
    verdict = check(text)
    if verdict.query is None:
        raise RepairFault(verdict.message)
    warehouse.execute(verdict.query)


def _plan_id(old: str, repaired: Plan) -> str:
    text = json.dumps([old, repaired.model_dump(mode="json", exclude={"plan_id"})], sort_keys=True)
    return f"{old.partition('~')[0]}~{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _column(name: str, renames: Renames) -> str:
    for (table, column), new in renames.columns.items():
        if name == f"{table}.{column}":
            return f"{renames.table(table)}.{new}"
    for table, new in renames.tables.items():
        if name.startswith(f"{table}."):
            return new + name[len(table) :]
    return name


def _fingerprints(kept: dict[str, str], tables: list[str], after: Catalog) -> dict[str, str]:
    """The hashes that a kept plan rests on, with those of its tables taken anew (see plans.fingerprint)."""
    prints = {kind: value for kind, value in kept.items() if not kind.startswith("table:")}
    for name in tables:
        table = after.table(name)
        prints[f"table:{name}"] = table_fingerprint(table)[:16] if table is not None else "missing"
    return dict(sorted(prints.items()))
