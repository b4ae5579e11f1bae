"""Which columns a question's result will have, as far as that is known before it is asked, and who names others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import get_close_matches

import sqlglot
from sqlglot import exp

from rag_core.batch.reading import QuestionReader
from rag_core.datamodel.base import Record
from rag_core.datamodel.plan import SqlStep
from rag_core.datamodel.question import Batch, Question
from rag_core.semantics.compile import compile_query
from rag_core.semantics.paths import SemanticError


class KnownColumns(Record):
    """Names of the columns of a question's first result, and what says so."""

    names: tuple[str, ...]
    source: str


class ColumnForecast:
    """Foretells columns by the kept plan of a question, else by the metric or verified query that explains it."""

    def __init__(self, reader: QuestionReader) -> None:
        self._reader = reader
        self._model = reader.model

    def of(self, question: Question) -> KnownColumns | None:
        """The columns of the question's first result, None where nothing says them beforehand."""
        reading = self._reader.read(question)
        kept, planned = reading.kept, reading.planned
        if kept is not None:
            step = next((step for step in kept.plan.steps if isinstance(step, SqlStep)), None)
            sql = kept.statements.get(step.step_id) if step is not None else None
            return None if step is None else self._of_step(step, sql, f"the kept plan {kept.plan_id}")
        first = next((step for step in planned.steps if isinstance(step, SqlStep)), None) if planned else None
        if planned is None or first is None or planned.unmatched:
            return None
        query = first.metric_query
        source = f"the metric {query.metrics[0]}" if query is not None else f"the verified query {first.verified}"
        return self._of_step(first, first.sql, source)

    def _of_step(self, step: SqlStep, sql: str | None, source: str) -> KnownColumns | None:
        names: tuple[str, ...] = ()
        if step.metric_query is not None:
            try:
                compiled = compile_query(step.metric_query, self._model, self._model.dialect)
            except SemanticError:
                return None  # told when it is asked; no column is known by it
            names = tuple(meaning.name for meaning in compiled.meanings)
        elif sql is not None:
            names = selected_names(sql, self._model.dialect)
        return KnownColumns(names=names, source=source) if names else None


def selected_names(sql: str, dialect: str) -> tuple[str, ...]:
    """Names of the columns of a SELECT; empty where they are not written out, as with a star."""
    try:
        parsed = sqlglot.parse_one(sql, dialect=dialect)
    except sqlglot.errors.SqlglotError:
        return ()
    if not isinstance(parsed, exp.Query) or parsed.is_star:
        return ()
    names = tuple(parsed.named_selects)
    return names if all(names) else ()


def find_unknown_columns(batch: Batch, known: Callable[[Question], KnownColumns | None]) -> Iterator[str]:
    """One line for each column that a question's expectations or headline name and its result will not have."""
    columns = {
        question.question_id: known(question)
        for question in batch.questions
        if question.headline or any(wanted.column for wanted in question.expectations)
    }
    by_id = {question.question_id: question for question in batch.questions}

    def line(owner: str, question_id: str, column: str) -> str | None:
        if question_id not in columns:
            columns[question_id] = known(by_id[question_id])
        found = columns[question_id]
        if found is None or column in found.names:
            return None
        near = get_close_matches(column, found.names, n=1, cutoff=0.5)
        guess = f" (did you mean {near[0]}?)" if near else ""
        return f"{owner} names the column {column}{guess}: by {found.source} there are {', '.join(found.names)}"

    for question in batch.questions:
        wanted = [(f"the expectation {item.kind}", question.question_id, item.column) for item in question.expectations]
        wanted += [
            (f"the expectation agrees on {item.question}", item.question, item.other_column or item.column)
            for item in question.expectations
            if item.question is not None
        ]
        wanted.append(("the headline", question.question_id, question.headline))
        for what, question_id, column in wanted:
            found = line(f"question {question.question_id}: {what}", question_id, column) if column else None
            if found is not None:
                yield found
