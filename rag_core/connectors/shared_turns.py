"""A rate limit of statements that holds over all processes of one store."""

from __future__ import annotations

from psycopg import errors

from rag_core.connectors.gate import MINUTE_SECONDS
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.errors import ConfigurationError


class SharedTurns:
    """Turns of one warehouse, kept in the store, whose clock counts. Safe to use from several threads and processes.

    Args:
        store: where the turns are kept.
        warehouse: which warehouse; everybody who names the same shares its turns.
        per_minute: statements that may begin within any window.
        window_seconds: length of the window; a minute but in tests.
    """

    def __init__(
        self, store: Store, warehouse: str, per_minute: int, *, window_seconds: float = MINUTE_SECONDS
    ) -> None:
        self._store = store
        self._warehouse = warehouse
        self._per_minute = per_minute
        self._window = window_seconds

    def take(self) -> float:
        """Takes a turn: 0 where there was one, else the seconds until one may be free. Raises ServiceUnavailable."""
        given = {"warehouse": self._warehouse, "per_minute": self._per_minute, "window_seconds": self._window}
        with self._store.connection() as connection:
            try:
                row = connection.execute(statement("lookups/take_warehouse_turn"), given).fetchone()
            except errors.UndefinedTable:
                raise ConfigurationError("the store is older than this version: run `nightshift init`") from None
        assert row is not None
        taken, opens_in = row
        return 0.0 if taken else float(opens_in)
