"""Which words of a batch's questions no rule understands, as far as that is known before anything is asked."""

from __future__ import annotations

from collections.abc import Iterator

from rag_core.batch.reading import QuestionReader
from rag_core.datamodel.question import Batch, Question


class WordingForecast:
    """Foretells which questions would need a chat model; one that has a kept plan is not read anew."""

    def __init__(self, reader: QuestionReader) -> None:
        self._reader = reader

    def of(self, question: Question) -> str | None:
        """What is not understood of a question after figures, None where nothing is or documents are asked."""
        reading = self._reader.read(question)
        plan = reading.planned
        if plan is None:
            return None
        if plan.clarification:
            return plan.clarification
        if not plan.unmatched:
            return None
        misses = self._reader.planner.matcher.match(reading.text, self._reader.run_date).near_misses
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
