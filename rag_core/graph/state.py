"""The state of the graph: frozen values, and reducers that merge parallel results in one fixed order."""

from __future__ import annotations

import operator
from datetime import date
from typing import Annotated, Any, TypedDict

from rag_core.datamodel.answer import Answer, Claim, TraceEntry, Usage, Verdict, add_usage
from rag_core.datamodel.base import Record
from rag_core.datamodel.evidence import Finding, Passage, SqlEvidence
from rag_core.datamodel.plan import Plan, Step
from rag_core.plans.strategies import Choice
from rag_core.workers.outcome import StepOutcome
from rag_core.workers.synthesizer import Draft


class Request(Record):
    """What was asked. `strategy` is `auto` or the one strategy that may be used."""

    question: str
    run_date: date
    question_id: str | None = None
    parameters: dict[str, Any] = {}
    strategy: str = "auto"
    run_id: str = ""


class Evidence(Record):
    """What the workers brought, merged at one point: markers are given here, in the order of the plan's steps."""

    sql: tuple[SqlEvidence, ...] = ()
    passages: tuple[Passage, ...] = ()


class Revision(Record):
    """A step to be done again: the new step and the number of the attempt."""

    step: Step
    attempt: int
    repaired: str = ""


def merge_outcomes(known: tuple[StepOutcome, ...], new: tuple[StepOutcome, ...]) -> tuple[StepOutcome, ...]:
    """Outcomes by step and attempt, whichever worker was quicker."""
    return tuple(sorted((*known, *new), key=lambda outcome: (outcome.step_id, outcome.attempt)))


def sum_usage(known: Usage, new: Usage) -> Usage:
    """What two nodes cost together."""
    return add_usage(known, new)


class QuestionState(TypedDict, total=False):
    """One question on its way through the graph.

    `filled` are dependent steps with the values that they took, `unbound` the statements by step as they were written
    before values were put in.
    """

    request: Request
    deadline: float
    plan: Plan
    choice: Choice
    revisions: tuple[Revision, ...]
    outcomes: Annotated[tuple[StepOutcome, ...], merge_outcomes]
    filled: Annotated[tuple[Step, ...], operator.add]
    unbound: Annotated[tuple[tuple[str, str], ...], operator.add]
    evidence: Evidence
    findings: tuple[Finding, ...]
    draft: Draft
    judged_draft: Draft
    claims: tuple[Claim, ...]
    verdict: Verdict
    answer_attempts: int
    feedback: str
    decided: Annotated[tuple[str, ...], operator.add]
    usage: Annotated[Usage, sum_usage]
    trace: Annotated[tuple[TraceEntry, ...], operator.add]
    answer: Answer


class StepTask(TypedDict):
    """What a worker is sent: a step, the number of the attempt, and the question's bounds."""

    request: Request
    deadline: float
    step: Step
    attempt: int
    repaired: str
    previous: tuple[StepOutcome, ...]
