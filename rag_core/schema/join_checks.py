"""The join check of the schema as it is now, with what people decided on joins."""

from __future__ import annotations

import threading
from collections.abc import Callable

from rag_core.connectors.base import Warehouse
from rag_core.connectors.store import Store
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.query import GuardedSql, GuardVerdict
from rag_core.schema.join_check import JoinCheck
from rag_core.schema.join_probe import read_join_decisions
from rag_core.schema.joins import Join, find_joins


class JoinChecks:
    """Keeps one join check a catalog. Safe to use from several threads.

    Args:
        warehouse: where the values are.
        store: where decisions on joins are kept; None keeps none.
    """

    def __init__(self, warehouse: Warehouse, store: Store | None) -> None:
        self._warehouse = warehouse
        self._store = store
        self._lock = threading.Lock()
        self._current: tuple[Catalog, JoinCheck] | None = None

    def require(self, query: GuardedSql, catalog: Catalog, check: Callable[[str], GuardVerdict]) -> None:
        """Raises QueryFault with the code `join` where a join of the statement does not hold.

        Args:
            query: the statement.
            catalog: the schema that it was checked against.
            check: the guard's decision on a statement, for looking at values.
        """
        if not query.joins:
            return
        with self._lock:
            if self._current is None or self._current[0] is not catalog:
                self._current = catalog, JoinCheck(self._warehouse, check, catalog, self._decided(catalog))
            current = self._current[1]
        current.require(query)

    def _decided(self, catalog: Catalog) -> list[Join]:
        decisions = read_join_decisions(self._store, catalog) if self._store is not None else {}
        known = find_joins(catalog, decisions=decisions) if decisions else ()
        return [join for join in known if (join.left, join.right) in decisions]
