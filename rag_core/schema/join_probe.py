"""Looks up in the warehouse whether values of a column are values of a key, and keeps what people decided on joins."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal

from sqlglot import exp

from rag_core.connectors.base import Warehouse
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.query import GuardedSql, GuardVerdict
from rag_core.errors import ConfigurationError, QueryFault, ServiceUnavailable
from rag_core.policy.names import name_rules
from rag_core.schema.joins import Join, Overlap, Verdict
from rag_core.schema.lookups import LEAST_SECONDS, TimeBudget

logger = logging.getLogger(__name__)

# Rows read of the referring table, and distinct values looked up.
MAX_ROWS = 20_000
MAX_VALUES = 1_000
MAX_PROBES = 300
# Of one look, where all of them together have a budget.
PROBE_SECONDS = 5.0


class WarehouseProbe:
    """A probe that asks the warehouse, through the SQL guard, with a bounded sample.

    Args:
        warehouse: where the values are.
        check: the guard's decision on a statement.
        catalog: the schema, for the spelling of schemas and tables.
        max_probes: statements at most; after that nothing is known any more.
        budget: time for all looks together; after that nothing is known any more either.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        check: Callable[[str], GuardVerdict],
        catalog: Catalog,
        *,
        max_probes: int = MAX_PROBES,
        budget: TimeBudget | None = None,
    ) -> None:
        self._warehouse = warehouse
        self._check = check
        self._names = {table.qualified_name: (table.schema_name, table.name) for table in catalog.tables}
        self._left = max_probes
        self._budget = budget
        self.left_out = 0

    def __call__(self, left_table: str, left_column: str, right_table: str, right_column: str) -> Overlap | None:
        """Looks at most 1,000 distinct values up; None where the guard or the database refuses."""
        row = self._ask(self._statement(left_table, left_column, right_table, right_column))
        return Overlap(sampled=row[0], matched=row[1]) if row is not None else None

    def unique(self, table: str, column: str) -> bool | None:
        """Whether no value stands twice among 20,000 rows; None where that cannot be told, or where there are none."""
        rules = name_rules(self._warehouse.dialect)
        rows = (
            exp.select(exp.alias_(exp.Column(this=rules.identifier(column)), "probed_value"))
            .from_(self._table(table))
            .limit(MAX_ROWS)
        )
        value = exp.column("probed_value")
        counted = exp.select(
            exp.alias_(exp.Count(this=exp.Star()), "sampled"),
            exp.alias_(exp.Count(this=exp.Distinct(expressions=[value])), "matched"),
        ).from_(rows.subquery("probed_rows"))
        row = self._ask(counted.sql(dialect=self._warehouse.dialect))
        # A NULL is no key either: it counts as a row and as no value.
        return row[0] == row[1] if row is not None and row[0] else None

    def _ask(self, sql: str) -> tuple[int, int] | None:
        """The two counts of a statement; None where the guard or the database refuses, or where enough was asked."""
        if self._left <= 0 or (self._budget is not None and self._budget.left() <= 0):
            self.left_out += 1
            return None
        self._left -= 1
        if self._budget is not None:
            self._budget.spend()
        verdict = self._check(sql)
        if verdict.query is None:
            logger.info("a join was not looked up: %s", verdict.message)
            return None
        try:
            result = self._warehouse.execute(self._bounded(verdict.query))
        except QueryFault as fault:
            logger.info("a join was not looked up: %s", fault.message)
            return None
        except ServiceUnavailable:
            if self._budget is None:
                raise
            # The question itself will tell that the warehouse does not answer.
            self._budget.end()
            self.left_out += 1
            return None
        sampled, matched = result.rows[0]
        return int(sampled), int(matched)

    def _bounded(self, query: GuardedSql) -> GuardedSql:
        if self._budget is None:
            return query
        seconds = min(PROBE_SECONDS, query.limits.timeout_seconds, max(self._budget.left(), LEAST_SECONDS))
        return query.model_copy(update={"limits": query.limits.model_copy(update={"timeout_seconds": seconds})})

    def _statement(self, left_table: str, left_column: str, right_table: str, right_column: str) -> str:
        rules = name_rules(self._warehouse.dialect)
        value = exp.column("probed_value")
        rows = (
            exp.select(exp.alias_(exp.Column(this=rules.identifier(left_column)), "probed_value"))
            .from_(self._table(left_table))
            .where(exp.Not(this=exp.Is(this=exp.Column(this=rules.identifier(left_column)), expression=exp.Null())))
            .limit(MAX_ROWS)
        )
        values = exp.select(value.copy()).distinct().from_(rows.subquery("probed_rows")).limit(MAX_VALUES)
        key = exp.column(rules.identifier(right_column), table="probed_target")
        query = (
            exp.select(
                exp.alias_(exp.Count(this=exp.Star()), "sampled"), exp.alias_(exp.Count(this=key.copy()), "matched")
            )
            .from_(values.subquery("probed_values"))
            .join(
                exp.alias_(self._table(right_table), "probed_target", table=True),
                on=exp.EQ(this=exp.column("probed_value", table="probed_values"), expression=key.copy()),
                join_type="left",
            )
        )
        return query.sql(dialect=self._warehouse.dialect)

    def _table(self, name: str) -> exp.Table:
        rules = name_rules(self._warehouse.dialect)
        schema_name, table = self._names[name]
        return exp.Table(this=rules.identifier(table), db=rules.identifier(schema_name))


def read_join_decisions(store: Store, catalog: Catalog) -> dict[tuple[str, str], Verdict]:
    """What people decided on joins of this warehouse, by (left, right)."""
    with store.connection() as connection:
        rows = connection.execute(
            statement("drift/list_join_decisions"), {"warehouse": f"{catalog.dialect}:{catalog.database}"}
        ).fetchall()
    return {(left, right): verdict for left, right, verdict in rows}


def decide_join(
    store: Store,
    catalog: Catalog,
    join: Join,
    verdict: Literal["approved", "rejected"],
    *,
    actor: str,
    note: str = "",
    now: datetime | None = None,
) -> None:
    """Keeps a person's decision on a join; a later one replaces it."""
    with store.connection() as connection:
        connection.execute(
            statement("drift/save_join_decision"),
            {
                "warehouse": f"{catalog.dialect}:{catalog.database}",
                "left_side": join.left,
                "right_side": join.right,
                "verdict": verdict,
                "actor": actor,
                "note": note,
                "moment": now if now is not None else datetime.now(UTC),
            },
        )


def pick_join(joins: tuple[Join, ...], left: str, right: str) -> Join:
    """The join with these sides, in either order and without regard to case. Raises ConfigurationError."""
    wanted = {left.lower(), right.lower()}
    found = [join for join in joins if {join.left.lower(), join.right.lower()} == wanted]
    if not found:
        raise ConfigurationError(f"no join of {left} and {right} was found: `nightshift schema joins` lists them")
    return found[0]
