"""What is known of the schema as it is now beyond its catalog: values for the schema card, joins that nobody declared.

Looks at the warehouse are made within a budget of time, once a schema: the store keeps them for a day under all that
decides what may be seen. What there was no time for is left out and counted; the next process reads on from there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import NamedTuple

from rag_core.connectors.base import Warehouse
from rag_core.connectors.store import Store
from rag_core.datamodel.base import Record
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.query import GuardedSql, GuardVerdict
from rag_core.policy.rules import Policy
from rag_core.schema.card_values import CardValueIndex
from rag_core.schema.join_check import JoinCheck
from rag_core.schema.join_lookups import KeptProbe
from rag_core.schema.join_probe import WarehouseProbe, read_join_decisions
from rag_core.schema.joins import Join, Verdict, find_joins
from rag_core.schema.lookups import Lookups, TimeBudget, scope_of

# For all values of a schema, for all its joins, and for the joins of one statement that nobody has looked up.
VALUE_SECONDS = 8.0
JOIN_SECONDS = 8.0
STATEMENT_JOIN_SECONDS = 5.0
# There a LIMIT does not bound what is read, and paid for: larger tables are left alone, as are those of unknown size.
_PAID_BY_BYTES = frozenset({"bigquery"})
_SMALL_ROWS = 1_000_000

Decisions = Mapping[tuple[str, str], Verdict]


class Known(Record):
    """Values by `schema.table.column` and scored joins; `left_out` looks were not made for want of time."""

    values: dict[str, tuple[str, ...]] = {}
    joins: tuple[Join, ...] = ()
    left_out: int = 0


class SchemaKnowledge:
    """Keeps what is known of one catalog, the last one asked about. Safe to use from several threads.

    Args:
        warehouse: where the values are.
        store: where looks and decisions on joins are kept; None keeps none.
        policy: the warehouse policy as it is now.
        identity: who the warehouse is asked as, without secrets; None keeps what is looked up in this process only,
            as another one may be shown something else.
        value_seconds: time for reading the values of a schema.
        join_seconds: time for looking the joins of a schema up.
        looks: most statements for each of the two, None for no bound: where statements a minute are limited, the looks
            would use them up and the question would wait for its turn.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        store: Store | None,
        *,
        policy: Callable[[], Policy],
        identity: str | None = None,
        value_seconds: float = VALUE_SECONDS,
        join_seconds: float = JOIN_SECONDS,
        looks: int | None = None,
    ) -> None:
        self._warehouse = warehouse
        self._store = store
        self._policy = policy
        self._identity = identity
        self._bounds = _Bounds(value_seconds, join_seconds, looks)
        self._lock = threading.Lock()
        self._current: _Schema | None = None

    def known(self, catalog: Catalog, check: Callable[[str], GuardVerdict]) -> Known:
        """Values and joins for the cards of a catalog.

        Args:
            catalog: what questions may see.
            check: the guard's decision on a statement, for looking at values.
        """
        with self._lock:
            schema = self._of(catalog, check)
            values, joins = schema.values.of(catalog), schema.joins(self._decisions(catalog))
            return Known(values=values, joins=joins, left_out=schema.values.left_out + schema.probe.left_out)

    def require(self, query: GuardedSql, catalog: Catalog, check: Callable[[str], GuardVerdict]) -> None:
        """Raises QueryFault where a join of the statement does not hold, with the code of its `JoinFault`.

        Args:
            query: the statement.
            catalog: the schema that it was checked against.
            check: the guard's decision on a statement, for looking at values.
        """
        if not query.joins and not query.expression_joins and not query.derived_joins:
            return
        with self._lock:
            join_check = self._of(catalog, check).join_check(query, self._decisions(catalog))
        join_check.require(query)

    def _of(self, catalog: Catalog, check: Callable[[str], GuardVerdict]) -> _Schema:
        if self._current is None or self._current.catalog is not catalog:
            policy = self._policy()
            store = self._store if self._identity is not None else None
            scope = scope_of(catalog, policy, self._identity or "")
            self._current = _Schema(catalog, self._warehouse, check, Lookups(store, scope), policy, self._bounds)
        return self._current

    def _decisions(self, catalog: Catalog) -> Decisions:
        # Read each time: what somebody approves or rejects counts at once.
        return read_join_decisions(self._store, catalog) if self._store is not None else {}


class _Bounds(NamedTuple):
    value_seconds: float
    join_seconds: float
    looks: int | None


class _Schema:
    """What is known of one catalog."""

    def __init__(
        self,
        catalog: Catalog,
        warehouse: Warehouse,
        check: Callable[[str], GuardVerdict],
        kept: Lookups,
        policy: Policy,
        bounds: _Bounds,
    ) -> None:
        self.catalog = catalog
        self._warehouse, self._check, self._kept = warehouse, check, kept
        self._need_approval = [(rule.left, rule.right) for rule in policy.joins.need_approval]
        self._bounds = bounds
        self._closed = _too_dear(catalog)
        self.values = CardValueIndex(
            warehouse, check, kept=kept, seconds=bounds.value_seconds, looks=bounds.looks, closed=self._closed
        )
        self.probe = KeptProbe(WarehouseProbe(warehouse, check, catalog, max_probes=0), kept)
        self._asked: set[str] = set()
        self._joins: tuple[Decisions, tuple[Join, ...]] | None = None
        self._join_check: tuple[tuple[Join, ...], JoinCheck] | None = None

    def joins(self, decisions: Decisions) -> tuple[Join, ...]:
        """The scored joins with what people decided."""
        if self._joins is None:
            self.probe = self._new_probe(self._bounds.join_seconds, self._closed)
        if self._joins is None or self._joins[0] != decisions:
            self._score(decisions)
        assert self._joins is not None
        return self._joins[1]

    def join_check(self, query: GuardedSql, decisions: Decisions) -> JoinCheck:
        """The check with all that is known of the joins of a statement; what nobody has looked up is looked up now."""
        pairs = (*query.joins, *((join.left, join.right) for join in query.expression_joins), *query.derived_joins)
        waiting = [join for join in self.joins(decisions) if self._is_waiting(join, pairs)]
        if waiting:
            probe = self._new_probe(STATEMENT_JOIN_SECONDS, frozenset())
            for join in waiting:
                self._asked.add(f"{join.left} = {join.right}")
                for left, right in zip(join.left_columns, join.right_columns, strict=True):
                    probe(join.left_table, left, join.right_table, right)
            self._score(decisions)
        joins = self.joins(decisions)
        if self._join_check is None or self._join_check[0] is not joins:
            self._join_check = joins, JoinCheck(self._warehouse, self._check, self.catalog, joins)
        return self._join_check[1]

    def _is_waiting(self, join: Join, pairs: tuple[tuple[str, str], ...]) -> bool:
        if join.source != "inferred" or join.overlap is not None or join.status != "needs_approval":
            return False
        own = {
            frozenset((f"{join.left_table}.{left}", f"{join.right_table}.{right}"))
            for left, right in zip(join.left_columns, join.right_columns, strict=True)
        }
        used = {frozenset(pair) for pair in pairs}
        return bool(own & used) and f"{join.left} = {join.right}" not in self._asked

    def _new_probe(self, seconds: float, closed: frozenset[str]) -> KeptProbe:
        budget = TimeBudget(seconds, looks=self._bounds.looks)
        probe = WarehouseProbe(self._warehouse, self._check, self.catalog, budget=budget)
        return KeptProbe(probe, self._kept, closed=closed)

    def _score(self, decisions: Decisions) -> None:
        found = find_joins(
            self.catalog,
            self.probe,
            unique=self.probe.unique,
            decisions=decisions,
            need_approval=self._need_approval,
        )
        self._joins = dict(decisions), found
        self._kept.save()


def _too_dear(catalog: Catalog) -> frozenset[str]:
    if catalog.dialect not in _PAID_BY_BYTES:
        return frozenset()
    return frozenset(
        table.qualified_name
        for table in catalog.tables
        if table.row_estimate is None or table.row_estimate > _SMALL_ROWS
    )
