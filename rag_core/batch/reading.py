"""How a batch's questions are read before anything is asked: by their kept plans, else as the rules plan them."""

from __future__ import annotations

from datetime import date
from functools import cached_property

from rag_core.batch.dates import date_values
from rag_core.batch.file import fill_placeholders
from rag_core.datamodel.base import Record
from rag_core.datamodel.plan import Plan
from rag_core.datamodel.question import Question
from rag_core.plans.fingerprint import question_key
from rag_core.plans.store import KeptPlan, PlanStore
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.values import ValueIndex
from rag_core.workers.planner import Planner


class Reading(Record):
    """A question with its placeholders filled, and either its kept plan or the one that the rules would make."""

    text: str
    kept: KeptPlan | None = None
    planned: Plan | None = None


class QuestionReader:
    """Reads each question once, however many look at it.

    Args:
        model: metrics, dimensions and verified queries.
        values: values of the dimensions; without them questions that name one are not understood.
        run_date: the day that relative times refer to.
        plans: kept plans; None where the store does not run.
    """

    def __init__(self, model: SemanticModel, values: ValueIndex, run_date: date, plans: PlanStore | None) -> None:
        self.model = model
        self.run_date = run_date
        self._values = values
        self._plans = plans
        self._read: dict[str, Reading] = {}

    @cached_property
    def planner(self) -> Planner:
        """What plans without a chat model."""
        return Planner(self.model, self._values)

    def read(self, question: Question) -> Reading:
        """How the question is read."""
        text = fill_placeholders(question.text, {**date_values(self.run_date), **question.parameters})
        if text not in self._read:
            kept = self._plans.find(question_key(text)) if self._plans is not None else None
            planned = self.planner.plan(text, self.run_date)[0] if kept is None else None
            self._read[text] = Reading(text=text, kept=kept, planned=planned)
        return self._read[text]
