"""Kept plans in the store. Every change is one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, Literal

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.base import Record
from rag_core.datamodel.plan import Plan
from rag_core.errors import ConfigurationError
from rag_core.plans.strategies import StrategyUse

PlanState = Literal["draft", "approved", "stale", "broken", "retired"]
RECENT_RUNS = 10


class Replaced(Record):
    """What a plan took the place of: the plan before it, with its last statements and answer."""

    plan_id: str
    approved: bool
    statements: dict[str, str]
    fingerprints: dict[str, str]
    answer: str


class KeptPlan(Record):
    """A plan with what it rests on. `statements` is the SQL that ran last, by step, `answer` the text it led to.

    `was_approved`: it was, until what it rests on changed. `replaces` is what it took the place of when it was made.
    """

    plan_id: str
    question_key: str
    question: str
    question_id: str | None = None
    state: PlanState = "draft"
    strategy: str
    plan: Plan
    statements: dict[str, str] = {}
    tables: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    fingerprints: dict[str, str]
    reason: str = ""
    answer: str = ""
    was_approved: bool = False
    replaces: Replaced | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class PlanRun(Record):
    """One use of a plan."""

    run_id: str = ""
    run_date: date
    status: str
    replayed: bool
    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    milliseconds: float
    at: datetime | None = None


class PlanStore:
    """Reads and writes kept plans. Safe to use from several threads."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def find(self, key: str) -> KeptPlan | None:
        """The plan in use for a question, by its key."""
        return next(iter(self._read("plans/find_plan", {"question_key": key})), None)

    def find_serving(self, key: str) -> tuple[KeptPlan | None, str]:
        """The plan in use for a question and the document index that serves, read at once."""
        with self._store.connection() as connection, connection.cursor(row_factory=dict_row) as cursor:
            row = cursor.execute(statement("plans/find_plan"), {"question_key": key}).fetchone()
            if row is None:
                return None, ""
            index = cursor.execute(statement("plans/read_index_version"), {}).fetchone()
        return KeptPlan.model_validate(row), str(index["concat"]) if index else ""

    def kept_keys(self, keys: Sequence[str], *, approved_only: bool) -> frozenset[str]:
        """Those of the keys of questions that have a plan to replay."""
        states = ["approved"] if approved_only else ["approved", "draft"]
        with self._store.connection() as connection:
            rows = connection.execute(
                statement("plans/list_kept_keys"), {"keys": list(keys), "states": states}
            ).fetchall()
        return frozenset(row[0] for row in rows)

    def find_superseded(self, key: str) -> KeptPlan | None:
        """The last plan for a question that is stale or broken: what a new one takes the place of."""
        return next(iter(self._read("plans/find_superseded", {"question_key": key})), None)

    def get(self, plan_id: str) -> KeptPlan:
        """The plan of this id. Raises ConfigurationError where there is none."""
        found = self._read("plans/read_plan", {"plan_id": plan_id})
        if not found:
            raise ConfigurationError(f"there is no plan {plan_id}: see `nightshift plans list`")
        return found[0]

    def list_plans(self, state: str | None = None) -> Sequence[KeptPlan]:
        """All plans, oldest first; those of one state where given."""
        return self._read("plans/list_plans", {"state": state})

    def versions(self, key: str) -> Sequence[KeptPlan]:
        """Every plan that a question has had, by its key; the one that changed last comes first."""
        return self._read("plans/list_versions", {"question_key": key})

    def save(self, kept: KeptPlan) -> None:
        """Keeps a plan and retires the one that was in use for its question; an approval survives the same plan."""
        values = kept.model_dump(mode="json", exclude={"created_at", "updated_at", "was_approved"})
        values |= {name: Jsonb(values[name]) for name in ("plan", "statements", "fingerprints")}
        values["replaces"] = Jsonb(values["replaces"]) if kept.replaces is not None else None
        values |= {"tables": list(kept.tables), "columns": list(kept.columns)}
        with self._store.connection() as connection:
            connection.execute(
                statement("plans/retire_others"), {"question_key": kept.question_key, "plan_id": kept.plan_id}
            )
            connection.execute(statement("plans/upsert_plan"), values)

    def set_state(self, plan_id: str, state: PlanState, reason: str = "") -> None:
        """Changes a plan's state. Raises ConfigurationError where there is no such plan or another one is in use."""
        kept = self.get(plan_id)
        with self._store.connection() as connection:
            if state in ("draft", "approved"):
                connection.execute(
                    statement("plans/retire_others"), {"question_key": kept.question_key, "plan_id": plan_id}
                )
            connection.execute(statement("plans/set_state"), {"plan_id": plan_id, "state": state, "reason": reason})

    def record_run(
        self, plan_id: str | None, run: PlanRun, use: StrategyUse | None = None, *, answer: str | None = None
    ) -> None:
        """Adds a use of the plan to its history, and the strategy that led to it to the log.

        History is not worth a wait for the disk: a crash may lose the last lines. `answer` replaces the plan's.
        """
        with self._store.connection() as connection:
            connection.execute(statement("strategies/defer_commit"))
            if plan_id is not None:
                values = {"plan_id": plan_id, **run.model_dump(exclude={"at"})}
                connection.execute(statement("plans/insert_run"), values)
            if use is not None:
                connection.execute(statement("strategies/insert_use"), use.values())
            if answer is not None and plan_id is not None:
                connection.execute(statement("plans/update_answer"), {"plan_id": plan_id, "answer": answer})

    def runs(self, plan_id: str, count: int = RECENT_RUNS) -> Sequence[PlanRun]:
        """The last uses, newest first."""
        with self._store.connection() as connection, connection.cursor(row_factory=dict_row) as cursor:
            cursor.execute(statement("plans/list_runs"), {"plan_id": plan_id, "count": count})
            return [PlanRun.model_validate(row) for row in cursor.fetchall()]

    def index_version(self) -> str:
        """The document index that serves, empty where none does."""
        with self._store.connection() as connection:
            row = connection.execute(statement("plans/read_index_version")).fetchone()
        return str(row[0]) if row else ""

    def _read(self, name: str, parameters: dict[str, Any]) -> list[KeptPlan]:
        with self._store.connection() as connection, connection.cursor(row_factory=dict_row) as cursor:
            cursor.execute(statement(name), parameters)
            return [KeptPlan.model_validate(row) for row in cursor.fetchall()]
