"""Decides whether a question is replayed or planned anew, and keeps what answered it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from pydantic import BaseModel

from rag_core.datamodel.answer import Answer
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.plan import Plan, SqlStep, Step
from rag_core.plans.fingerprint import MISSING, changed, question_key, take_fingerprints
from rag_core.plans.replay import replay_plan
from rag_core.plans.store import KeptPlan, PlanRun, PlanStore, Replaced
from rag_core.plans.strategies import StrategyUse
from rag_core.prompts.loader import prompts_version
from rag_core.semantics.version import reading_version

KEEPABLE = ("answered", "partial")
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")


@dataclass(frozen=True, slots=True)
class PlanKeeper:
    """Keeps plans of one orchestrator. `catalog` and `policy` give what holds now."""

    store: PlanStore
    catalog: Callable[[], Catalog]
    policy: Callable[[], BaseModel]
    semantic_model: BaseModel
    chat_model: str = ""

    def recall(
        self, question: str, run_date: date, *, approved_only: bool = False
    ) -> tuple[Plan | None, KeptPlan | None]:
        """The plan to replay, and the kept one it comes from; the first is None where the question is planned anew.

        With `approved_only` a draft is as if it were not there.

        A kept plan whose fingerprints changed becomes stale, or broken where a table it reads is gone.
        """
        kept, index = self.store.find_serving(question_key(question))
        if kept is None or (approved_only and kept.state != "approved"):
            return None, None
        now = self.fingerprints(kept.plan, kept.tables, index=index)
        differing = changed(kept.fingerprints, now)
        if differing:
            gone = any(now.get(kind) == MISSING for kind in differing)
            self.store.set_state(kept.plan_id, "broken" if gone else "stale", f"changed: {', '.join(differing)}")
            return None, kept
        return replay_plan(kept.plan, run_date), kept

    def have_plans(self, questions: Sequence[str], *, approved_only: bool) -> list[bool]:
        """For each question whether a plan of it may be replayed; whether it still holds is seen when it is."""
        keys = [question_key(question) for question in questions]
        kept = self.store.kept_keys(keys, approved_only=approved_only)
        return [key in kept for key in keys]

    def fingerprints(self, plan: Plan, tables: Sequence[str], *, index: str | None = None) -> dict[str, str]:
        """Hashes of what a plan rests on, as it is now; `index` is the index that serves, where it was just read."""
        searches = any(step.kind == "search" for step in plan.steps)
        return take_fingerprints(
            plan,
            tables,
            self.catalog(),
            policy=self.policy(),
            semantic_model=self.semantic_model,
            index_version=(self.store.index_version() if index is None else index) if searches else "",
            reading=reading_version(),
            prompts=prompts_version(),
            chat_model=self.chat_model,
        )

    def keep(self, plan: Plan, answer: Answer, unbound: Mapping[str, str] | None = None) -> bool:
        """Keeps a plan that has answered; a plan that did not, or whose SQL was mended, is not kept.

        `unbound` are statements by step as they were written, before values of earlier steps were put in. A plan that
        takes an approved one's place is a draft, and holds what it replaces; where it asks the same of changed tables,
        the approval holds for it too.
        """
        if answer.status not in KEEPABLE or not plan.steps or any(item.confidence < 1 for item in answer.sql):
            return False
        statements = {item.step_id: item.sql for item in answer.sql}
        tables = tuple(sorted({table for item in answer.sql for table in item.tables}))
        columns = tuple(sorted({column for item in answer.sql for column in item.columns}))
        written = {**statements, **(unbound or {})}
        whole = plan.model_copy(update={"steps": tuple(_with_sql(step, written) for step in plan.steps)})
        key = question_key(plan.question)
        before = self.store.find_superseded(key)
        now = self.fingerprints(whole, tables)
        same = _still_approved(before, whole, now, statements)
        self.store.save(
            KeptPlan(
                plan_id=plan.plan_id,
                question_key=key,
                question=plan.question,
                question_id=answer.question_id,
                state="approved" if same else "draft",
                strategy=plan.strategy,
                plan=whole,
                statements=statements,
                tables=tables,
                columns=columns,
                fingerprints=now,
                reason=f"approved before; {before.reason}" if same and before is not None else "",
                answer=answer.text,
                replaces=_replaced(before),
            )
        )
        return True

    def record(
        self,
        answer: Answer,
        *,
        replayed: bool,
        milliseconds: float,
        use: StrategyUse | None = None,
        kept: bool = True,
        with_text: bool = False,
    ) -> None:
        """Adds a run to the plan's history and to the log of strategies; `kept` False: to the latter alone."""
        self.store.record_run(
            answer.plan_id if kept else None,
            PlanRun(
                run_id=answer.run_id,
                run_date=answer.run_date,
                status=answer.status,
                replayed=replayed,
                model_calls=answer.usage.model_calls,
                prompt_tokens=answer.usage.prompt_tokens,
                completion_tokens=answer.usage.completion_tokens,
                milliseconds=milliseconds,
            ),
            use,
            answer=answer.text if with_text else None,
        )

    def give_up(self, kept: KeptPlan, reason: str) -> None:
        """Marks a plan that failed when it was replayed."""
        self.store.set_state(kept.plan_id, "broken", reason[:300])


def _replaced(before: KeptPlan | None) -> Replaced | None:
    if before is None:
        return None
    return Replaced(
        plan_id=before.plan_id,
        approved=before.was_approved,
        statements=before.statements,
        fingerprints=before.fingerprints,
        answer=before.answer,
    )


def _still_approved(before: KeptPlan | None, plan: Plan, now: Mapping[str, str], statements: Mapping[str, str]) -> bool:
    """Whether an approval holds for a plan made anew: only tables, the index or our own rules changed, and it asks the
    same of them.

    A changed metric or policy makes other SQL of the same steps, which nobody has approved; so may changed rules, and
    there the statements themselves are held side by side.
    """
    if before is None or not before.was_approved or before.plan_id != plan.plan_id:
        return False
    kinds = changed(before.fingerprints, now)
    harmless = bool(kinds) and all(kind.startswith("table:") or kind in ("index", "reading") for kind in kinds)
    if "reading" in kinds and _undated(before.statements) != _undated(statements):
        return False
    return harmless and _written(before.plan) == _written(plan)


def _undated(statements: Mapping[str, str]) -> dict[str, str]:
    """Statements without their dates, which follow the run date."""
    return {step: _DATE.sub("DATE", sql) for step, sql in statements.items()}


def _written(plan: Plan) -> list[str | None]:
    return [step.sql for step in plan.steps if isinstance(step, SqlStep)]


def _with_sql(step: Step, statements: Mapping[str, str]) -> Step:
    """A step that a model wrote SQL for, with that SQL, so that a replay asks no model."""
    if isinstance(step, SqlStep) and step.metric_query is None and step.sql is None and step.step_id in statements:
        return step.model_copy(update={"sql": statements[step.step_id]})
    return step
