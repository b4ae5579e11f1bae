"""Looks, before a batch runs, whether the warehouse's schema still carries its questions.

A breaking change touches a question if the question's kept plan reads what changed. Renames that are proven do not stop
anybody: they are followed when the question is asked, unless the old name means something else now. An incomplete
snapshot stops nobody either, since what it lacks was not dropped.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Literal

from rag_core.connectors.base import Warehouse
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.base import Record
from rag_core.datamodel.drift import DriftEvent, DriftRules, Lineage, OnBreaking
from rag_core.datamodel.question import Batch
from rag_core.errors import ConfigurationError, NightshiftError
from rag_core.schema.cautions import tell_change
from rag_core.schema.check import schema_moved
from rag_core.schema.decisions import accept_events, map_event
from rag_core.schema.drift import detect_drift
from rag_core.schema.events import event_of
from rag_core.schema.impact import find_affected
from rag_core.schema.lineage import read_plan_lineage
from rag_core.schema.reused import find_reused, tell_reused
from rag_core.schema.unknown import tell_event

Choice = Literal["accept", "replace", "keep", "fail"]
_RENAMED = frozenset({"column_renamed", "table_renamed", "table_moved"})
_TOLD_BY_NAME = _RENAMED | {"column_removed", "table_removed", "access_lost"}
_MAPPING = re.compile(r"^\s*(\d+)\s*(?:=|:|->)\s*(\S.*?)\s*$")


class BatchHeld(NightshiftError):
    """A breaking schema change touches the batch, and its policy is not to run then: somebody must decide first."""


class HeldQuestion(Record):
    """A question that is not asked, the numbers of the events that touch it, and the reason in a sentence."""

    question_id: str
    events: tuple[int, ...]
    reason: str


class Gate(Record):
    """What a batch finds before it runs. `message` (Markdown) tells a person what changed and whom it touches."""

    policy: OnBreaking = "pause"
    held: tuple[HeldQuestion, ...] = ()
    events: tuple[DriftEvent, ...] = ()
    message: str = ""
    note: str = ""


class SchemaGate:
    """Holds questions back that a breaking schema change touches.

    Args:
        warehouse: what the questions are asked of.
        store: where plans and events are kept.
        rules: section `drift` of the policy.
        lineage: gives what reads the schema besides kept plans.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        store: Store,
        *,
        rules: DriftRules,
        lineage: Callable[[], Sequence[Lineage]] = tuple,
    ) -> None:
        self._warehouse = warehouse
        self._store = store
        self._rules = rules
        self._lineage = lineage

    def look(self, batch: Batch) -> Gate:
        """Which questions of the batch a breaking change touches. Checks the schema where nobody did of late.

        Raises BatchHeld where the policy is to fail, ServiceUnavailable where the store cannot be reached.
        """
        policy = batch.on_breaking_change or self._rules.on_breaking
        note = self._freshen()
        gate = self._find(batch, policy).model_copy(update={"note": note})
        if gate.held and policy == "fail":
            raise BatchHeld(f"the batch {batch.batch} is held: {'; '.join(item.reason for item in gate.held[:3])}")
        return gate

    def take_up(
        self, batch: Batch, choice: Choice, *, actor: str, became: str = "", events: Sequence[int] = ()
    ) -> Gate:
        """Carries out what a person decided, and says which questions are still held.

        Args:
            batch: the batch that waited.
            choice: `accept` the changes as they are; `replace` what vanished by what it became; `keep` the questions
                paused; `fail` the batch.
            actor: who decided.
            became: for `replace`, a line `EVENT = schema.table.column` for each event whose successor is not plain.
            events: what the person was asked about; empty is all that holds a question now.

        Raises:
            ConfigurationError: an event has no single likely successor and none was named.
            BatchHeld: the choice was to fail.
        """
        asked = [event for event in self._find(batch, "wait").events if not events or event.event_id in events]
        if choice == "fail":
            raise BatchHeld(f"{actor} decided that the batch {batch.batch} fails")
        names = [str(event.event_id) for event in asked]
        if choice == "accept" and names:
            accept_events(self._store, names, actor=actor, note=_NOTE, lineage=self._lineage())
        elif choice == "replace":
            self._replace(asked, read_mapping(became), actor)
        return self._find(batch, "pause")

    def _replace(self, events: Sequence[DriftEvent], named: dict[int, str], actor: str) -> None:
        unknown = sorted(set(named) - {event.event_id for event in events})
        if unknown:
            raise ConfigurationError(f"event {unknown[0]} is not one that this batch waits for")
        lineage = self._lineage()
        for event in events:
            if event.change.kind in _RENAMED and event.change.confidence == 1:
                what = "table" if event.change.column is None else "column"
                raise ConfigurationError(
                    f"event {event.event_id}: {event.change.object} means another {what} now: what reads it must be "
                    "corrected before the change is accepted"
                )
            target = named.get(event.event_id)
            if target is None and event.change.kind in _RENAMED:
                accept_events(self._store, [str(event.event_id)], actor=actor, note=_NOTE, lineage=lineage)
                continue
            likely = [item.object for item in event.change.candidates]
            if target is None and len(likely) != 1:
                raise ConfigurationError(
                    f"event {event.event_id}: {event.change.object} has no single likely successor; "
                    f"write {event.event_id} = schema.table.column"
                )
            wanted = target or likely[0]
            map_event(self._store, str(event.event_id), wanted, actor=actor, note=_NOTE, lineage=lineage)

    def _freshen(self) -> str:
        """Checks the schema unless that was done of late and nothing was written since; what went wrong, in a sentence.

        Whether something was written can only be told where the warehouse has a state.
        """
        with self._store.connection() as connection:
            row = connection.execute(
                statement("drift/find_last_check"),
                {"prefix": f"{self._warehouse.dialect}:", "minutes": self._rules.max_age_minutes},
            ).fetchone()
        recent = row is not None and row[2] and row[1] != "incomplete"
        if recent and not schema_moved(self._warehouse, self._store, None):
            return ""
        report = detect_drift(self._warehouse, self._store, actor="batch", rules=self._rules, lineage=self._lineage())
        if report.status not in ("incomplete", "held"):
            return ""
        return f"The schema could not be checked before this run: {report.reason}"

    def _find(self, batch: Batch, policy: OnBreaking) -> Gate:
        if policy == "answer":
            return Gate(policy=policy)
        with self._store.connection() as connection:
            row = connection.execute(
                statement("drift/find_warehouse"), {"prefix": f"{self._warehouse.dialect}:"}
            ).fetchone()
            rows = connection.execute(
                statement("drift/list_breaking_events"), {"warehouse": row[0] if row else ""}
            ).fetchall()
            reused = {event.event_id for event in find_reused(connection, row[0] if row else "").values()}
            events = [event for event in map(event_of, rows) if event.event_id in reused or not _is_followed(event)]
            plans = read_plan_lineage(connection) if events else ()
            asked = connection.execute(statement("drift/list_plan_questions")).fetchall() if events else []
        questions = _questions_of(batch, asked)
        touched: defaultdict[str, list[DriftEvent]] = defaultdict(list)
        for event in events:
            (change,) = find_affected([event.change], plans)
            ids = {questions[item.id] for item in change.affected if item.id in questions}
            for question_id in sorted(ids):
                touched[question_id].append(event)
        held = tuple(
            HeldQuestion(
                question_id=question.question_id,
                events=tuple(event.event_id for event in touched[question.question_id]),
                reason="; ".join(tell(event) for event in touched[question.question_id]),
            )
            for question in batch.questions
            if question.question_id in touched
        )
        numbers = {number for item in held for number in item.events}
        concerned = tuple(event for event in events if event.event_id in numbers)
        return Gate(policy=policy, held=held, events=concerned, message=_message(concerned, held))


_NOTE = "decided for a batch that waited"


def tell(event: DriftEvent) -> str:
    """What an event means for a question that reads the object, in one sentence."""
    change = event.change
    if change.kind in _RENAMED and change.confidence == 1:
        return f"{tell_reused(event)} (event {event.event_id})"
    if change.kind in _TOLD_BY_NAME:
        return f"{tell_event(event)} (event {event.event_id})"
    return tell_change(event)


def read_mapping(text: str) -> dict[int, str]:
    """Lines `EVENT = schema.table.column` as names by event. Raises ConfigurationError at a line of another form."""
    named = {}
    for line in filter(str.strip, text.splitlines()):
        match = _MAPPING.match(line)
        if match is None:
            raise ConfigurationError(f"{line.strip()!r} is not of the form EVENT = schema.table.column")
        named[int(match[1])] = match[2]
    return named


def _is_followed(event: DriftEvent) -> bool:
    """Whether a question's statement follows the change by itself."""
    return event.change.kind in _RENAMED and event.change.confidence == 1


def _questions_of(batch: Batch, plans: Sequence[tuple[str, str | None, str]]) -> dict[str, str]:
    """The batch's question of each kept plan, by the plan's id."""
    ids = {question.question_id for question in batch.questions}
    texts = {question.text: question.question_id for question in batch.questions}
    found = {}
    for plan_id, question_id, text in plans:
        wanted = question_id if question_id in ids else texts.get(text)
        if wanted is not None:
            found[plan_id] = wanted
    return found


def _message(events: Sequence[DriftEvent], held: Sequence[HeldQuestion]) -> str:
    if not held:
        return ""
    lines = [f"{len(held)} questions wait, because the warehouse's schema changed:", ""]
    for event in events:
        lines.append(f"- **event {event.event_id}** {tell(event).removesuffix(f' (event {event.event_id})')}")
        for candidate in event.change.candidates:
            lines.append(f"    - perhaps `{candidate.object}` ({candidate.score:.0%}: {candidate.reason})")
        touched = [f"`{item.question_id}`" for item in held if event.event_id in item.events]
        lines.append(f"    - touches {', '.join(touched)}")
    return "\n".join(lines)
