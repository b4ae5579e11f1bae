"""Which words of a batch's questions no rule understands, as far as that is known before anything is asked."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from rag_core.batch.dates import date_values
from rag_core.batch.file import fill_placeholders
from rag_core.datamodel.question import Batch, Question
from rag_core.plans.fingerprint import question_key
from rag_core.plans.store import PlanStore
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.values import ValueIndex
from rag_core.workers.planner import Planner


class WordingForecast:
    """Foretells which questions would need a chat model, by planning them as a run without one does.

    Args:
        model: metrics, dimensions and verified queries.
        values: values of the dimensions; without them, names that the warehouse knows would seem unknown.
        run_date: the day that relative times refer to.
        plans: kept plans; a question that has one is not read anew.
    """

    def __init__(self, model: SemanticModel, values: ValueIndex, run_date: date, plans: PlanStore | None) -> None:
        self._planner = Planner(model, values)
        self._run_date = run_date
        self._plans = plans

    def of(self, question: Question) -> str | None:
        """What is not understood of a question after figures, None where nothing is or documents are asked."""
        text = fill_placeholders(question.text, {**date_values(self._run_date), **question.parameters})
        if self._plans is not None and self._plans.find(question_key(text)) is not None:
            return None
        plan, _ = self._planner.plan(text, self._run_date)
        if plan.clarification:
            return plan.clarification
        if not plan.unmatched:
            return None
        misses = self._planner.matcher.match(text, self._run_date).near_misses
        near = {miss.word: miss.suggestions for miss in misses}
        words = (
            f"{word!r} (did you mean {' or '.join(near[word])}?)" if word in near else repr(word)
            for word in plan.unmatched
        )
        return f"not understood without a chat model: {', '.join(words)}"


def find_unknown_words(batch: Batch, forecast: WordingForecast) -> Iterator[str]:
    """One line for each question of which the rules do not understand a word, or understand one in two ways."""
    for question in batch.questions:
        problem = forecast.of(question)
        if problem is not None:
            yield f"question {question.question_id}: {problem}"
