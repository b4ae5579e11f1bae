"""What looks at the warehouse's values told, kept in the store so that they are made once a schema, within a budget.

Values are kept as they are, unlike the hashes of profiles: a card must name them. What the policy hides or masks never
gets here, because each look goes through the guard, and the scope changes with the policy, the schema and who asks.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import psycopg
from psycopg.types.json import Jsonb

from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.catalog import Catalog
from rag_core.policy.rules import Policy
from rag_core.schema.fingerprint import fingerprint

logger = logging.getLogger(__name__)

LookupKind = Literal["values", "overlap", "unique"]
KEPT_FOR = timedelta(hours=24)
# The last look before a budget ends gets at least this.
LEAST_SECONDS = 0.2
# A longer name is no key of an index; it is looked up once a process.
MAX_SUBJECT_BYTES = 2_000


class TimeBudget:
    """Seconds for at most `looks` looks; None is without end. It starts when it is made."""

    def __init__(
        self, seconds: float | None, *, looks: int | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._looks = looks
        self._end = None if seconds is None else clock() + seconds

    def left(self) -> float:
        """Seconds left, never less than 0; 0 where no look is left."""
        if self._looks is not None and self._looks <= 0:
            return 0.0
        return float("inf") if self._end is None else max(0.0, self._end - self._clock())

    def spend(self) -> None:
        """Counts a look."""
        if self._looks is not None:
            self._looks -= 1

    def end(self) -> None:
        """Lets nothing more be looked up: the warehouse does not answer."""
        self._end = self._clock()


class Lookups:
    """Looks that were made under one scope: those of the last 24 hours from the store, and those of this process.

    Not safe to use from several threads at a time.

    Args:
        store: where they are kept; None keeps them in this process.
        scope: as `scope_of` gives it.
        kept_for: age at which a look is made anew.
        now: the time.
    """

    def __init__(
        self,
        store: Store | None,
        scope: str,
        *,
        kept_for: timedelta = KEPT_FOR,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._scope = scope
        self._kept_for = kept_for
        self._now = now
        self._new: dict[tuple[LookupKind, str], Any] = {}
        self._known: dict[tuple[LookupKind, str], Any] = self._load()

    def get(self, kind: LookupKind, subject: str) -> Any | None:
        """What a look told; None where none was made."""
        return self._known.get((kind, subject))

    def put(self, kind: LookupKind, subject: str, found: Any) -> None:
        """Takes what a look told, as JSON has it and not None; `save` keeps it."""
        self._known[kind, subject] = found
        if len(subject.encode()) <= MAX_SUBJECT_BYTES:
            self._new[kind, subject] = found

    def save(self) -> None:
        """Keeps what is new and forgets what is too old. A store that fails costs the looks, never the question."""
        if self._store is None or not self._new:
            return
        moment = self._now()
        try:
            with self._store.connection() as connection:
                connection.execute(statement("lookups/delete_old_lookups"), {"oldest": moment - self._kept_for})
                connection.execute(
                    statement("lookups/save_lookups"),
                    {
                        "scope": self._scope,
                        "kinds": [kind for kind, _ in self._new],
                        "subjects": [subject for _, subject in self._new],
                        "found": [Jsonb(found) for found in self._new.values()],
                        "moment": moment,
                    },
                )
        except psycopg.Error as error:
            logger.warning("what was looked up in the warehouse could not be kept: %s", error)
        self._new.clear()

    def _load(self) -> dict[tuple[LookupKind, str], Any]:
        if self._store is None:
            return {}
        try:
            with self._store.connection() as connection:
                rows = connection.execute(
                    statement("lookups/list_lookups"), {"scope": self._scope, "oldest": self._now() - self._kept_for}
                ).fetchall()
        except psycopg.Error as error:
            logger.warning("what was looked up in the warehouse could not be read: %s", error)
            return {}
        return {(kind, subject): found for kind, subject, found in rows}


def scope_of(catalog: Catalog, policy: Policy, identity: str) -> str:
    """SHA-256 over all that decides which values may be seen.

    Args:
        catalog: what questions may see.
        policy: its masks and row filters change what a statement gives.
        identity: who the warehouse is asked as, without secrets.
    """
    seen = [
        fingerprint(catalog),
        [table.qualified_name for table in catalog.tables if not table.readable],
        [f"{t.qualified_name}.{c.name}" for t in catalog.tables for c in t.columns if not c.readable],
        [table.qualified_name for table in catalog.tables if table.row_limited],
        policy.model_dump(mode="json"),
        identity,
    ]
    return hashlib.sha256(json.dumps(seen, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
