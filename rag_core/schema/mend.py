"""Mends a statement whose table or column is not there, where the schema's history proves what it is called now."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from rag_core.connectors.base import Warehouse
from rag_core.connectors.store import Store
from rag_core.datamodel.base import Record
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.drift import DriftRules, Lineage
from rag_core.schema.cautions import find_cautions
from rag_core.schema.check import detect_drift, schema_moved
from rag_core.schema.events import find_events_by_name
from rag_core.schema.reads import read_names
from rag_core.schema.renames import Renames, undo_renames
from rag_core.schema.repair import pending_renames
from rag_core.schema.reused import advise_reused, find_reused
from rag_core.schema.rewrite import RepairFault, rewrite_sql
from rag_core.schema.unknown import explain_unknown, tell_event

# How often a process that answers question after question asks the warehouse whether its schema changed.
NOTICE_SECONDS = 60.0


class CatalogSource(Protocol):
    """The warehouse's schema, kept for a while."""

    def current(self) -> Catalog:
        """The schema as last read."""
        ...

    def refresh(self) -> Catalog:
        """The schema, read anew."""
        ...


class Mended(Record):
    """What became of a statement that named something unknown.

    `sql` is the statement to run instead, None where there is none; `message` says what replaced what, or why nothing
    could be done. `drift` is True where the schema changed, and False where the name was invented, misspelt, or could
    not be looked up. `suggestions` holds the right spelling of a name in the wrong case. `refreshed`: the kept schema
    was read anew.
    """

    sql: str | None = None
    message: str
    drift: bool
    suggestions: tuple[str, ...] = ()
    refreshed: bool = False


class SchemaMender:
    """Explains unknown names and follows certain renames in statements. Safe to use from several threads.

    Args:
        warehouse: what the statements are for.
        store: where snapshots and events are kept.
        schema: the kept schema; it is read anew where it proves out of date.
        rules: section `drift` of the policy.
        lineage: gives what reads the schema besides kept plans, for events that are found on the way.
        watched: the warehouse under the login's own role, where `warehouse` is asked as somebody else: what a person
            may not read was not taken from everybody.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        store: Store,
        schema: CatalogSource,
        *,
        rules: DriftRules | None = None,
        lineage: Callable[[], Sequence[Lineage]] = tuple,
        watched: Warehouse | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._own_schema = watched is None
        self._warehouse = watched if watched is not None else warehouse
        self._clock = clock
        self._noticing = threading.Lock()
        self._noticed_at: float | None = None
        self._store = store
        self._schema = schema
        self._rules = rules
        self._lineage = lineage

    def mend(self, sql: str, name: str) -> Mended:
        """What to do about a statement that was refused because `name` is unknown.

        Only what is certain is followed: a rename that the catalog proves or a person confirmed. The schema is read
        again at most once for many callers. Raises ServiceUnavailable where the store cannot be reached.
        """
        catalog = self._schema.current()
        found = explain_unknown(
            name,
            catalog,
            self._warehouse,
            self._store,
            tables=_known_tables(sql, catalog),
            rules=self._rules,
            lineage=self._lineage,
        )
        taken = self._taken(sql, catalog)
        if taken is not None:
            return Mended(message=taken, drift=True)
        stale = found.object is not None and _holds(catalog, found.object) == found.drift
        refreshed = found.kind not in ("invented", "quoting", "unclear") and stale
        now = self._schema.refresh() if refreshed else catalog
        unmended = Mended(message=found.message, drift=found.drift, refreshed=refreshed)
        if found.kind == "quoting" and found.replacement is not None:
            return unmended.model_copy(update={"suggestions": (found.replacement,)})
        if found.kind == "present" and refreshed:
            return unmended.model_copy(update={"sql": sql, "message": ""})
        if found.kind == "perhaps_renamed":
            confirm = f"nobody has confirmed it yet: nightshift drift accept {found.event_id}"
            return unmended.model_copy(update={"message": f"{found.message}; {confirm}"})
        return self._follow(sql, now, unmended) if found.kind == "renamed" else unmended

    def require_names(self, names: Sequence[str]) -> tuple[str, ...]:
        """What an answer from these names, `schema.table` and `schema.table.column`, has to say of undecided changes.

        A schema that changed since the last check is checked first. Raises QueryFault where a statement reads a name
        that means something else now, ServiceUnavailable where the store or the warehouse cannot be reached.
        """
        catalog = self._schema.current()
        self._notice(catalog)
        with self._store.connection() as connection:
            return find_cautions(connection, f"{catalog.dialect}:{catalog.database}", names)

    def _taken(self, sql: str, catalog: Catalog) -> str | None:
        """What is to be said where a statement reads a table whose name means another table now.

        Its columns are then unknown for that reason, whatever they are called elsewhere.
        """
        try:
            tables = read_names(sql, catalog.dialect, search_path=catalog.search_path).tables
        except ValueError:
            return None
        with self._store.connection() as connection:
            reused = find_reused(connection, f"{catalog.dialect}:{catalog.database}")
        return next((advise_reused(reused[table]) for table in tables if table in reused), None)

    def _notice(self, catalog: Catalog) -> None:
        """Checks the schema where it changed since the last check; looks for that once in a while."""
        with self._noticing:
            if self._noticed_at is not None and self._clock() - self._noticed_at < NOTICE_SECONDS:
                return
            if schema_moved(self._warehouse, self._store, catalog if self._own_schema else None):
                detect_drift(self._warehouse, self._store, actor="question", rules=self._rules, lineage=self._lineage())
                if self._own_schema and not hasattr(self._warehouse, "schema_state"):
                    # It was held against the kept schema, which would prove out of date again and again.
                    self._schema.refresh()
            self._noticed_at = self._clock()

    def _follow(self, sql: str, now: Catalog, unmended: Mended) -> Mended:
        renames = pending_renames(self._store, now)
        before = undo_renames(now, renames)
        try:
            mended = rewrite_sql(sql, now.dialect, renames, catalog=before, search_path=now.search_path).sql
        except RepairFault as fault:
            reason = f"{unmended.message}; the statement could not follow it: {fault}"
            return unmended.model_copy(update={"message": reason})
        if mended == sql:
            return unmended
        notes = list(dict.fromkeys(self._notes(sql, now, before, renames))) or [unmended.message]
        return unmended.model_copy(update={"sql": mended, "message": f"{'; '.join(notes)}: used"})

    def _notes(self, sql: str, now: Catalog, before: Catalog, renames: Renames) -> Iterator[str]:
        """One sentence for each rename that the statement followed."""
        reads = read_names(sql, now.dialect, catalog=before, search_path=now.search_path)
        touched = [f"{table}.{column}" for table, column in renames.columns if f"{table}.{column}" in reads.columns]
        touched += [table for table in renames.tables if table in reads.tables]
        source = f"{now.dialect}:{now.database}"
        with self._store.connection() as connection:
            for name in touched:
                for event in find_events_by_name(connection, source, name)[:1]:
                    yield tell_event(event)


def _known_tables(sql: str, catalog: Catalog) -> tuple[str, ...]:
    """The tables of a statement that are there; one that is not must not narrow the search for its columns."""
    try:
        tables = read_names(sql, catalog.dialect, search_path=catalog.search_path).tables
    except ValueError:
        return ()
    known = tuple(table for table in tables if catalog.table(table) is not None)
    return known if len(known) == len(tables) else ()


def _holds(catalog: Catalog, name: str) -> bool:
    """Whether a catalog has this table or column, as something that may be read."""
    whole = catalog.table(name)
    if whole is not None:
        return whole.readable
    table, _, column = name.rpartition(".")
    holder = catalog.table(table)
    found = holder.column(column) if holder is not None else None
    return found is not None and found.readable
