"""Which way a question is answered, what that cost and what came of it; and what `auto` learns from it.

There is no hidden state: a table of counts by class of question and strategy, and one rule over it. Fixed rules decide
until both the usual way and another one have been used often enough in a class; then the better one is taken, where it
is better by a margin, and of two alike the cheaper one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from psycopg.rows import class_row

from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.base import Record
from rag_core.datamodel.plan import Plan

# Fewer uses are anecdotes; half of a standard deviation of 8 yes-or-no outcomes is about .09.
MIN_USES = 8
MIN_GAIN = 0.1
# A reflection by the model costs up to two calls; where fewer than this share of them helped, it is left out.
MIN_HELPED = 0.1

# Model calls and tokens that a way takes where nothing is known yet.
_FIRST_GUESS: dict[str, tuple[float, float]] = {"model": (3.0, 4_500.0), "decomposed": (0.0, 0.0)}


class StrategyStats(Record):
    """What is known of a strategy in a class of questions; means are over the last 200 uses, `score` is their sum."""

    question_class: str
    strategy: str
    uses: int
    score: float
    model_calls: float
    tokens: float
    cost_usd: float | None = None
    milliseconds: float
    reflected: int = 0
    reflection_helped: int = 0
    drawn: int = 0
    drawing_helped: int = 0

    @property
    def success(self) -> float:
        """Share of good outcomes: answered is 1, partial a half, held back by a check 0."""
        return self.score / self.uses if self.uses else 0.0


class Choice(Record):
    """A strategy chosen for a question, why, and what it is expected to cost."""

    question_class: str
    strategy: str
    why: str
    asked_for: bool = False
    expected_model_calls: float = 0.0
    expected_tokens: float = 0.0
    expected_cost_usd: float | None = None
    expected_milliseconds: float | None = None


class StrategyUse(Record):
    """A choice with what came of it."""

    choice: Choice
    run_id: str = ""
    question_id: str = ""
    question_key: str
    model_calls: int
    tokens: int
    cost_usd: float | None
    milliseconds: float
    status: str
    reflected: bool = False
    reflection_helped: bool = False
    candidates: int = 0
    candidates_helped: bool = False
    at: datetime | None = None

    def values(self) -> dict[str, Any]:
        """The row of the log."""
        return self.model_dump(exclude={"choice", "at"}) | self.choice.model_dump()


def question_class(plan: Plan) -> str:
    """The class of a question by the plan that needs no model: what it asks for, in how many parts, how well read."""
    if plan.question_class:
        return plan.question_class
    kind = {"sql": "figures", "documents": "documents", "both": "figures and documents", "none": "unclear"}
    if any(step.depends_on for step in plan.steps):
        parts = "dependent parts"
    else:
        parts = "several parts" if len(plan.steps) > 1 else "one part"
    read = "partly understood" if plan.unmatched or plan.clarification or not plan.steps else "understood"
    return f"{kind[plan.query_type]}, {parts}, {read}"


def choose(name: str, candidates: Sequence[str], known: Sequence[StrategyStats], rule: str) -> Choice:
    """The strategy for a class of questions.

    Args:
        name: the class.
        candidates: strategies that can answer it, the usual one first.
        known: statistics of any classes and strategies.
        rule: why the first one is the usual one.
    """
    stats = {item.strategy: item for item in known if item.question_class == name}
    usual = stats.get(candidates[0])
    best, why = candidates[0], f"rule: {rule}"
    if usual is not None and usual.uses >= MIN_USES:
        for other in candidates[1:]:
            rival = stats.get(other)
            if rival is None or rival.uses < MIN_USES:
                continue
            better = rival.success - usual.success >= MIN_GAIN
            cheaper = rival.success >= usual.success and rival.model_calls < usual.model_calls
            if better or cheaper:
                best = other
                why = (
                    f"learned: {other} did well in {rival.success:.0%} of {rival.uses} uses at {rival.model_calls:.1f} "
                    f"model calls, {candidates[0]} in {usual.success:.0%} of {usual.uses} at {usual.model_calls:.1f}"
                )
                break
    return with_expectation(Choice(question_class=name, strategy=best, why=why), known)


def with_expectation(choice: Choice, known: Sequence[StrategyStats]) -> Choice:
    """The choice with the means of its class and strategy, or the first guess."""
    found = next(
        (item for item in known if (item.question_class, item.strategy) == (choice.question_class, choice.strategy)),
        None,
    )
    if found is None:
        calls, tokens = _FIRST_GUESS.get(choice.strategy, (0.0, 0.0))
        return choice.model_copy(update={"expected_model_calls": calls, "expected_tokens": tokens})
    return choice.model_copy(
        update={
            "expected_model_calls": found.model_calls,
            "expected_tokens": found.tokens,
            "expected_cost_usd": found.cost_usd,
            "expected_milliseconds": found.milliseconds,
        }
    )


def reflection_helps(name: str, known: Sequence[StrategyStats]) -> bool:
    """Whether the model is to be asked to mend its own statement in this class; yes until it is known not to help."""
    tried = sum(item.reflected for item in known if item.question_class == name)
    helped = sum(item.reflection_helped for item in known if item.question_class == name)
    return tried < MIN_USES or helped / tried >= MIN_HELPED


class StrategyStore:
    """The log of strategies in one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def record(self, use: StrategyUse) -> None:
        """Adds a use. A statistic is not worth a wait for the disk: a crash may lose the last ones."""
        with self._store.connection() as connection:
            connection.execute(statement("strategies/defer_commit"))
            connection.execute(statement("strategies/insert_use"), use.values())

    def summarise(self) -> tuple[StrategyStats, ...]:
        """The statistics by class and strategy."""
        with self._store.connection() as connection, connection.cursor(row_factory=class_row(StrategyStats)) as cursor:
            cursor.execute(statement("strategies/summarise_uses"))
            return tuple(cursor.fetchall())
