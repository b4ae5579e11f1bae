"""The value that a question's file names as its headline. Pure."""

from __future__ import annotations

from rag_core.datamodel.answer import Answer
from rag_core.datamodel.question import Question


def with_headline(question: Question, answer: Answer) -> Answer:
    """The answer with the first row of the column that the question names; unchanged where there is none.

    Without a name the answer keeps the headline that the core gave it. A column that the result lacks leaves the answer
    without one: a value of another column must not stand in its place.
    """
    if question.headline is None or answer.status not in ("answered", "partial"):
        return answer
    for evidence in answer.sql:
        names = [column.name for column in evidence.result.columns]
        if question.headline in names and evidence.result.rows:
            value = evidence.result.rows[0][names.index(question.headline)]
            unit = next((m.unit for m in evidence.meanings if m.name == question.headline), "")
            return answer.model_copy(update={"headline_value": value, "headline_unit": unit})
    return answer.model_copy(update={"headline_value": None, "headline_unit": ""})
