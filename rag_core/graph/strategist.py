"""Chooses the way a question is answered, cheapest first, and has it planned."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rag_core.datamodel.answer import Usage, add_usage
from rag_core.datamodel.plan import Plan, QueryType, Step
from rag_core.graph.decompose import Decomposer
from rag_core.graph.state import Request
from rag_core.graph.subquestions import cut_question
from rag_core.plans.strategies import Choice, StrategyStats, choose, question_class, reflection_helps, with_expectation
from rag_core.workers.planner import Planner, plan_id

# The log changes slowly; reading it for every question would cost more than it tells.
FRESH_SECONDS = 60.0


@dataclass(slots=True)
class Strategist:
    """Plans by the strategy that a question's class calls for. `statistics` reads what is known of strategies.

    Without a `decomposer` no question is answered in parts.
    """

    planner: Planner
    decomposer: Decomposer | None
    statistics: Callable[[], Sequence[StrategyStats]]
    _known: tuple[StrategyStats, ...] = ()
    _read_at: float | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def plan(self, request: Request, tables: Sequence[str]) -> tuple[Plan, Usage, Choice]:
        """The plan, what planning cost, and the choice behind it.

        `auto` takes the parts that depend on one another where code can cut them, then figures and documents that are
        understood, and asks a model only for the rest, unless that has not helped in questions of this class.
        """
        asked = request.strategy
        steps = None
        if self.decomposer is not None and asked != "model":
            steps = self.decomposer.decompose(request.question, request.run_date)
        if steps is not None and asked in ("auto", "decomposed"):
            plan = _decomposed(request, steps)
            named = plan.model_copy(update={"question_class": question_class(plan)})
            return named, Usage(), self._named(named, "decomposed", "its parts depend on one another", asked)
        if asked not in ("auto", "model", "decomposed"):
            plan, usage = self._classified(request, asked, tables)
            return plan, usage, self._named(plan, plan.strategy, "it was asked for", asked)
        free, _ = self._classified(request, "metric", tables)
        if asked == "decomposed":
            cut, spent = self._cut(request, free, tables)
            if cut is not None:
                return cut, spent, self._named(cut, "decomposed", "it was asked for", asked)
            plan, usage = self.planner.plan(request.question, request.run_date, strategy="model", tables=tables)
            plan = plan.model_copy(update={"question_class": question_class(free)})
            return plan, add_usage(spent, usage), self._named(plan, plan.strategy, "it was asked for", asked)
        if asked != "auto":
            plan, usage = self.planner.plan(request.question, request.run_date, strategy=asked, tables=tables)
            plan = plan.model_copy(update={"question_class": question_class(free)})
            return plan, usage, self._named(plan, plan.strategy, "it was asked for", asked)
        plan, usage, choice = self._open(request, free, tables)
        return plan, usage, choice

    def _open(self, request: Request, free: Plan, tables: Sequence[str]) -> tuple[Plan, Usage, Choice]:
        """`auto` for a question without dependent parts: the planner decides whether a model is needed at all."""
        name = question_class(free)
        if self.planner.chat_model is None:
            return free, Usage(), self._named(free, free.strategy, "it needs no model, or there is none", "auto")
        if name.endswith("partly understood"):
            rule = "words of it are not understood, which a model may be"
            choice = choose(name, ("model", "decomposed", free.strategy), self.known(), rule)
            if choice.strategy == "decomposed":
                cut, spent = self._cut(request, free, tables)
                if cut is not None:
                    return cut, spent, choice
            elif choice.strategy != "model":
                return free, Usage(), choice
        plan, usage = self.planner.plan(request.question, request.run_date, strategy="auto", tables=tables)
        plan = plan.model_copy(update={"question_class": name})
        why = "the model decides on the rest" if plan.strategy == "model" else "it is understood without a model"
        return plan, usage, self._named(plan, plan.strategy, why, "auto")

    def _cut(self, request: Request, free: Plan, tables: Sequence[str]) -> tuple[Plan | None, Usage]:
        """The plan of parts that a model cut; None where there is no model or it made no ordered parts."""
        model = self.planner.chat_model
        if model is None or self.decomposer is None:
            return None, Usage()
        steps, usage = cut_question(model, request, tables, self.planner.matcher, self.planner.semantic_model)
        if steps is None:
            return None, usage
        return _decomposed(request, steps).model_copy(update={"question_class": question_class(free)}), usage

    def _classified(self, request: Request, strategy: str, tables: Sequence[str]) -> tuple[Plan, Usage]:
        plan, usage = self.planner.plan(request.question, request.run_date, strategy=strategy, tables=tables)
        return plan.model_copy(update={"question_class": question_class(plan)}), usage

    def _named(self, plan: Plan, strategy: str, why: str, asked: str) -> Choice:
        told = asked != "auto"
        choice = Choice(
            question_class=question_class(plan),
            strategy=strategy,
            why="it was asked for" if told else f"rule: {why}",
            asked_for=told,
        )
        return with_expectation(choice, self.known())

    def replayed(self, plan: Plan) -> Choice:
        """The choice of a kept plan whose fingerprints hold."""
        name = question_class(plan)
        choice = Choice(question_class=name, strategy="replay", why="rule: a kept plan's fingerprints hold")
        return with_expectation(choice, self.known())

    def may_reflect(self, plan: Plan) -> bool:
        """Whether the model is asked to mend its own statements in questions of this class."""
        return reflection_helps(question_class(plan), self.known())

    def known(self) -> tuple[StrategyStats, ...]:
        """The statistics, read at most once a minute."""
        with self._lock:
            now = time.monotonic()
            if self._read_at is None or now - self._read_at > FRESH_SECONDS:
                self._known, self._read_at = tuple(self.statistics()), now
            return self._known


def _decomposed(request: Request, steps: tuple[Step, ...]) -> Plan:
    kinds = {step.kind for step in steps}
    query_type: QueryType = "both" if len(kinds) == 2 else "sql" if kinds == {"sql"} else "documents"
    return Plan(
        plan_id=plan_id(request.question, steps),
        question=request.question,
        run_date=request.run_date,
        query_type=query_type,
        complexity="decomposed",
        strategy="decomposed",
        steps=steps,
        reasoning="A later part of the question speaks of what an earlier one finds, so they are answered in order",
    )
