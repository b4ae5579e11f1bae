"""A warehouse in memory, for tests of what stands above: it knows a catalog and the results of certain statements."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Self

from rag_core.connectors.base import QueryCost
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.query import GuardedSql, QueryResult
from rag_core.errors import QueryFault, ServiceUnavailable

Answers = Mapping[str, QueryResult | QueryFault]


class MemoryWarehouse:
    """Answers the statements that it was given, in the order asked for; anything else is a fault.

    Args:
        catalog: the schema, or a function that gives it, for tests of drift.
        answers: result or fault by the statement's text.
    """

    def __init__(self, catalog: Catalog | Callable[[], Catalog], answers: Answers | None = None) -> None:
        self._catalog = catalog
        self._answers = dict(answers or {})
        self._closed = False
        self.asked: list[str] = []
        self.principal: str | None = None

    @property
    def dialect(self) -> str:
        """The catalog's dialect."""
        return self.snapshot().dialect

    def snapshot(self) -> Catalog:
        """The catalog."""
        return self._catalog() if callable(self._catalog) else self._catalog

    def explain(self, query: GuardedSql) -> QueryCost:
        """The number of rows that the statement will give."""
        return QueryCost(rows=float(self._answer(query).row_count))

    def execute(self, query: GuardedSql) -> QueryResult:
        """The result of the statement, cut at the row cap."""
        self.asked.append(query.text)
        result = self._answer(query)
        cut = result.row_count > query.limits.max_rows
        return result.model_copy(
            update={
                "rows": result.rows[: query.limits.max_rows],
                "truncated_by": "rows" if cut else result.truncated_by,
                "own_limit": query.own_limit,
                "row_limited": query.row_limited,
            }
        )

    def for_principal(self, principal: str | None) -> Self:
        """The same answers; `principal` tells who asks."""
        view = copy.copy(self)
        view.principal = principal
        return view

    def close(self) -> None:
        """Afterwards nothing is answered any more."""
        self._closed = True

    def _answer(self, query: GuardedSql) -> QueryResult:
        if self._closed:
            raise ServiceUnavailable("the warehouse in memory was closed")
        answer = self._answers.get(query.text)
        if answer is None:
            raise QueryFault("other", f"no answer was prepared for: {query.text}")
        if isinstance(answer, QueryFault):
            raise answer
        return answer
