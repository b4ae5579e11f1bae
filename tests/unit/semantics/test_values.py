"""Values are read through the guard and never past its refusal."""

from __future__ import annotations

from rag_core.connectors.base import QueryCost
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.query import GuardedSql, GuardVerdict, QueryResult, ResultColumn
from rag_core.errors import QueryFault
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.values import read_values, value_statement


class Shelf:
    """A warehouse of one column; countries cannot be read."""

    dialect = "duckdb"

    def snapshot(self) -> Catalog:
        raise AssertionError("values need no schema")

    def explain(self, query: GuardedSql) -> QueryCost:
        raise AssertionError("values need no plan")

    def execute(self, query: GuardedSql) -> QueryResult:
        if "country" in query.text:
            raise QueryFault("permission", "permission denied")
        rows = tuple((value,) for value in ("b", "a", None, "c" * 200))
        return QueryResult(columns=(ResultColumn(name="value", type="text"),), rows=rows)

    def close(self) -> None:
        """Nothing to close."""


class Gate:
    """Refuses everything about teams."""

    def check(self, sql: str) -> GuardVerdict:
        if "staff" in sql:
            return GuardVerdict(allowed=False, code="excluded_table", message="not this one", dialect="duckdb")
        query = GuardedSql(text=sql, dialect="duckdb")
        return GuardVerdict(allowed=True, code="ok", message="", dialect="duckdb", query=query)


def test_values_are_sorted_and_bounded(small: SemanticModel) -> None:
    index = read_values(small, Shelf(), Gate(), limit=3)
    found = index.of("product")
    assert found is not None
    assert found.values == ("a", "b")
    assert found.has_empty
    assert not found.complete


def test_what_cannot_be_read_is_named(small: SemanticModel) -> None:
    index = read_values(small, Shelf(), Gate())
    assert index.skipped == {"country": "permission denied", "team": "not this one"}
    assert index.of("country") is None


def test_the_statement_is_bounded(small: SemanticModel) -> None:
    sql = value_statement(small, "country", "postgres", limit=10)
    assert sql == "SELECT DISTINCT customers.country AS value FROM main.customers AS customers ORDER BY value LIMIT 11"
