"""Why a statement's table or column is unknown: the schema moved on, the name was invented, or it is misspelt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from rag_core.connectors.base import Warehouse
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.base import Record
from rag_core.datamodel.catalog import Catalog, CatalogTable
from rag_core.datamodel.drift import DriftEvent, DriftReport, DriftRules, Lineage
from rag_core.policy.names import name_rules, near_misses
from rag_core.policy.rules import split_name
from rag_core.schema.check import detect_drift, store_clock
from rag_core.schema.events import find_events_by_name
from rag_core.schema.snapshots import find_snapshot, read_digests, read_tables

UnknownKind = Literal[
    "renamed", "perhaps_renamed", "removed", "access_lost", "quoting", "invented", "present", "unclear"
]
# An invented name asks for a new snapshot at most this often; a name that was there asks at once.
REFRESH_SECONDS = 60
_RENAMED = frozenset({"column_renamed", "table_renamed", "table_moved"})


class UnknownName(Record):
    """What is behind an unknown name.

    `kind`: the schema changed (renamed, perhaps_renamed, removed, access_lost), the name needs other quotes or case
    (quoting), nobody ever had it (invented), it is there after all, so that the statement is at fault or the caller's
    catalog too old (present), or the warehouse could not be asked (unclear). `replacement` is what to use instead, as
    the catalog spells it; `since` when that was first found. `drift` tells a change of the schema from a fault of
    whoever wrote the statement; `message` is one sentence for the asker.
    """

    name: str
    kind: UnknownKind
    drift: bool
    object: str | None = None
    replacement: str | None = None
    since: datetime | None = None
    suggestions: tuple[str, ...] = ()
    event_id: int | None = None
    message: str


class _Hit(NamedTuple):
    """A table, or a column of it, that the name may mean."""

    table: str
    column: str | None

    @property
    def name(self) -> str:
        return self.table if self.column is None else f"{self.table}.{self.column}"


def explain_unknown(
    name: str,
    catalog: Catalog,
    warehouse: Warehouse,
    store: Store,
    *,
    tables: Sequence[str] = (),
    rules: DriftRules | None = None,
    lineage: Callable[[], Sequence[Lineage]] = tuple,
    actor: str = "question",
) -> UnknownName:
    """Tells real drift from an invented name and from a quoting error.

    The warehouse's schema is read again at most once for many callers: whoever comes while a check runs waits for it,
    whoever comes later finds its snapshot in the store.

    Args:
        name: the unknown table or column as the statement wrote it, with or without schema and table.
        catalog: the schema that the statement was written from.
        warehouse: what refused the statement.
        store: where snapshots and events are kept.
        tables: `schema.table` of what the statement reads, to tell equal names apart.
        rules: section `drift` of the policy.
        lineage: gives what reads the schema besides kept plans; asked only where a new snapshot is taken.
        actor: who is named in the history.

    Raises:
        ServiceUnavailable: the store cannot be reached.
    """
    parts = _parts(name)
    hits = _find(parts, catalog, tables, exact=True)
    source = f"{catalog.dialect}:{catalog.database}"
    report: DriftReport | None = None
    present, asked_at = _present(store, source, hits)
    if hits and len(present) == len(hits):
        report = detect_drift(warehouse, store, actor=actor, rules=rules, lineage=lineage(), requested_at=asked_at)
        present, _ = _present(store, source, hits)
    elif not hits and (
        not _recently_checked(store, source) or _find(parts, _stored(store, catalog), tables, exact=True)
    ):
        # The last snapshot has the name and the caller's schema has not: one of the two is out of date.
        report = detect_drift(warehouse, store, actor=actor, rules=rules, lineage=lineage())
    if report is not None and report.status in ("incomplete", "held"):
        message = f"{name} was not found, and the schema cannot be checked: {report.reason}"
        return UnknownName(name=name, kind="unclear", drift=False, message=message)
    gone = [hit for hit in hits if hit not in [item for item, _ in present]]
    locked = [hit for hit, readable in present if not readable]
    if gone:
        return _explain_gone(name, gone[0], store, source)
    if locked:
        return UnknownName(
            name=name,
            kind="access_lost",
            drift=True,
            object=locked[0].name,
            message=f"{locked[0].name} is still there, but may no longer be read",
        )
    if present:
        return UnknownName(
            name=name,
            kind="present",
            drift=False,
            object=present[0][0].name,
            message=f"{present[0][0].name} is there: the statement does not name its table in FROM, or reads another",
        )
    return _explain_never_seen(name, parts, catalog, tables, store, source)


def _explain_gone(name: str, hit: _Hit, store: Store, source: str) -> UnknownName:
    with store.connection() as connection:
        events = list(find_events_by_name(connection, source, hit.name))
        if hit.column is not None:
            events += find_events_by_name(connection, source, hit.table)
    event = next((item for item in events if item.change.object in (hit.name, hit.table)), None)
    if event is None:
        return UnknownName(
            name=name,
            kind="removed",
            drift=True,
            object=hit.name,
            message=f"{hit.name} is no longer in the warehouse",
        )
    return _from_event(name, hit, event)


def tell_event(event: DriftEvent) -> str:
    """One sentence on what became of the table or column of an event, for whoever asked for it by its old name."""
    change = event.change
    return _from_event(change.object, _Hit(change.table, change.column), event).message


def _from_event(name: str, hit: _Hit, event: DriftEvent) -> UnknownName:
    change = event.change
    what = "table" if change.column is None else "column"
    day = event.opened_at.date().isoformat()
    common = {
        "name": name,
        "drift": True,
        "object": hit.name,
        "since": event.opened_at,
        "event_id": event.event_id,
        "suggestions": tuple(item.object for item in change.candidates),
    }
    if change.kind in _RENAMED and change.after is not None:
        new = change.after if change.column is None else f"{change.table}.{change.after}"
        if change.column is None and hit.column is not None:
            new = f"{new}.{hit.column}"
        certain = change.confidence == 1 or event.state in ("accepted", "mapped")
        verb = "has replaced" if certain else "has probably replaced"
        message = f"{what} {change.before} not found; {change.after} {verb} it since {day}"
        kind: UnknownKind = "renamed" if certain else "perhaps_renamed"
        return UnknownName(kind=kind, replacement=new, message=message, **common)
    if change.kind == "access_lost":
        message = f"{change.object} may no longer be read, since {day}"
        return UnknownName(kind="access_lost", message=message, **common)
    perhaps = f"; it may be {change.candidates[0].object} now" if change.candidates else ""
    message = f"{what} {change.object} was removed, found on {day}{perhaps}"
    return UnknownName(kind="removed", message=message, **common)


def _explain_never_seen(
    name: str, parts: tuple[str, ...], catalog: Catalog, tables: Sequence[str], store: Store, source: str
) -> UnknownName:
    with store.connection() as connection:
        past = find_events_by_name(connection, source, ".".join(parts))
    now = _stored(store, catalog)
    fresh = _find(parts, now, tables, exact=True)
    if fresh:
        message = f"{fresh[0].name} is new in the warehouse: the schema that was used is out of date"
        return UnknownName(name=name, kind="present", drift=False, object=fresh[0].name, message=message)
    if past:
        change = past[0].change
        return _from_event(name, _Hit(change.table, change.column), past[0])
    other_case = _find(parts, now, tables, exact=False)
    if other_case:
        written = ".".join(name_rules(catalog.dialect).written(part) for part in _split_hit(other_case[0], now))
        return UnknownName(
            name=name,
            kind="quoting",
            drift=False,
            object=other_case[0].name,
            replacement=other_case[0].name,
            suggestions=(written,),
            message=f"{name} is written {written} in the warehouse: the case matters, so it needs double quotes",
        )
    wanted = set(tables)
    pool = [table for table in now.tables if not wanted or table.qualified_name in wanted]
    known = [(column.name, f"{table.qualified_name}.{column.name}") for table in pool for column in table.columns]
    known += [(table.name, table.qualified_name) for table in now.tables]
    suggestions = tuple(item.name for item in near_misses(parts[-1], known))
    ending = f"; the most similar are {', '.join(suggestions)}" if suggestions else ""
    return UnknownName(
        name=name,
        kind="invented",
        drift=False,
        suggestions=suggestions,
        message=f"{name} was never in the warehouse{ending}",
    )


def _parts(name: str) -> tuple[str, ...]:
    try:
        return split_name(name)
    except ValueError:
        # PostgreSQL's own message may hold a name that is no name, which is then looked up as it is.
        return (name,)


def _find(parts: tuple[str, ...], catalog: Catalog, tables: Sequence[str], *, exact: bool) -> list[_Hit]:
    """Tables and columns that a name may mean; a qualifier that is no table is an alias and says nothing."""
    wanted = set(tables)

    def same(left: str, right: str) -> bool:
        return left == right if exact else left.lower() == right.lower()

    def qualified(table: CatalogTable, qualifier: tuple[str, ...]) -> bool:
        own = (table.schema_name, table.name)
        return all(same(a, b) for a, b in zip(reversed(qualifier), reversed(own), strict=False))

    named = [table for table in catalog.tables if same(table.name, parts[-1]) and qualified(table, parts)]
    if named and len(parts) <= 2:
        return [_Hit(table.qualified_name, None) for table in named]
    holders = [
        (table, column)
        for table in catalog.tables
        for column in table.columns
        if same(column.name, parts[-1]) and (not wanted or table.qualified_name in wanted)
    ]
    by_table = [(table, column) for table, column in holders if qualified(table, parts[:-1])]
    return [_Hit(table.qualified_name, column.name) for table, column in (by_table or holders)]


def _split_hit(hit: _Hit, catalog: Catalog) -> tuple[str, ...]:
    table = catalog.table(hit.table)
    own = (table.schema_name, table.name) if table is not None else (hit.table,)
    return own if hit.column is None else (hit.column,)


def _present(store: Store, source: str, hits: Sequence[_Hit]) -> tuple[list[tuple[_Hit, bool]], datetime]:
    """Which of the names the last stored snapshot has, each with whether it may be read, and when that was asked."""
    with store.connection() as connection:
        asked_at = store_clock(connection)
        last = find_snapshot(connection, source)
        if last is None:
            return [(hit, True) for hit in hits], asked_at
        digests = {".".join(key): digest for key, digest in read_digests(connection, last.snapshot_id).items()}
        wanted = {hit.table for hit in hits if hit.table in digests}
        stored = read_tables(connection, [digests[table] for table in wanted])
    found = []
    for hit in hits:
        table = stored.get(digests.get(hit.table, ""))
        column = table.column(hit.column) if table is not None and hit.column is not None else None
        if table is None or (hit.column is not None and column is None):
            continue
        found.append((hit, table.readable and (column is None or column.readable)))
    return found, asked_at


def _stored(store: Store, catalog: Catalog) -> Catalog:
    """The schema of the last stored snapshot."""
    with store.connection() as connection:
        last = find_snapshot(connection, f"{catalog.dialect}:{catalog.database}")
        digests = read_digests(connection, last.snapshot_id) if last is not None else {}
        stored = read_tables(connection, digests.values())
    return catalog.model_copy(update={"tables": tuple(stored[digests[key]] for key in sorted(digests))})


def _recently_checked(store: Store, source: str) -> bool:
    with store.connection() as connection:
        row = connection.execute(
            statement("drift/find_recent_run"), {"warehouse": source, "seconds": REFRESH_SECONDS}
        ).fetchone()
    return bool(row and row[0])
