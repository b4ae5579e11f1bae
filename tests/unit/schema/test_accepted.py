"""The accepted form of a table differs from its present one in just what waits for a decision."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import combinations

import pytest

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable, ForeignKey, UniqueKey
from rag_core.datamodel.drift import Change, DriftEvent, EventState
from rag_core.schema.accepted import accept_decided, accept_noted
from rag_core.schema.diff import diff_catalogs
from rag_core.schema.renames import Renames

NOW = datetime(2026, 7, 1, tzinfo=UTC)
BEFORE = CatalogTable(
    schema_name="public",
    name="orders",
    object_id=7,
    comment="Orders",
    columns=(
        CatalogColumn(name="id", type="integer", position=1, nullable=False),
        CatalogColumn(name="total", type="numeric(8,2)", position=2),
        CatalogColumn(name="code", type="character varying(20)", position=3),
        CatalogColumn(name="shop", type="integer", position=4),
        CatalogColumn(name="note", type="text", position=5),
    ),
    keys=(UniqueKey(name="pk", columns=("id",), primary=True),),
)
AFTER = CatalogTable(
    schema_name="public",
    name="orders",
    object_id=7,
    comment="All orders",
    columns=(
        CatalogColumn(name="id", type="integer", position=1, nullable=False),
        CatalogColumn(name="total", type="text", position=2),
        CatalogColumn(name="code", type="character varying(50)", position=3, comment="as printed"),
        CatalogColumn(name="store", type="integer", position=4),
        CatalogColumn(name="tax", type="numeric(8,2)", position=6),
        CatalogColumn(name="region", type="text", position=7),
    ),
    keys=(UniqueKey(name="pk", columns=("id",), primary=True), UniqueKey(name="uq", columns=("code",))),
    foreign_keys=(ForeignKey(name="fk", columns=("region",), target="public.regions", target_columns=("code",)),),
)


def differences(before: CatalogTable, after: CatalogTable, dialect: str = "postgres") -> dict[str, Change]:
    catalogs = [Catalog(dialect=dialect, database="shop", taken_at=NOW, tables=(table,)) for table in (before, after)]
    return {change.change_id: change for change in diff_catalogs(*catalogs)}


def events(changes: dict[str, Change], waiting: set[str]) -> list[DriftEvent]:
    found = []
    for number, change in enumerate(changes.values(), start=1):
        state: EventState = "open" if change.change_id in waiting else "noted"
        found.append(
            DriftEvent(event_id=number, change=change, state=state, snapshot_id=1, opened_at=NOW, last_seen_at=NOW)
        )
    return found


def renumbered(table: CatalogTable) -> CatalogTable:
    """As a database tells it that numbers the columns anew when one is gone."""
    columns = [column.model_copy(update={"position": place}) for place, column in enumerate(table.columns, start=1)]
    return table.model_copy(update={"columns": tuple(columns)})


@pytest.mark.parametrize("kind", ["in place", "rebuilt", "no proof"])
def test_whatever_waits_stays_a_difference_and_nothing_new_becomes_one(kind: str) -> None:
    dialect = "duckdb" if kind == "no proof" else "postgres"
    after = {
        "in place": AFTER,
        "rebuilt": renumbered(AFTER.model_copy(update={"object_id": 8})),
        "no proof": renumbered(AFTER),
    }[kind]
    changes = differences(BEFORE, after, dialect)
    grave = [item.change_id for item in changes.values() if item.severity in ("breaking", "risky")]
    assert len(grave) >= 3
    for size in range(1, len(grave) + 1):
        for waiting in combinations(grave, size):
            recorded = events(changes, set(waiting))
            form = accept_noted(BEFORE, after, recorded, proving=dialect == "postgres")
            left = set(differences(form.table, after, dialect))
            applied = {event.change.change_id for event in recorded if event.event_id in form.applied}
            assert set(waiting) <= left
            assert left == set(changes) - applied
            added = {"public.orders.tax", "public.orders.region"}
            assert added <= {event.change.object for event in recorded if event.event_id in form.applied}


def test_column_whose_name_another_had_waits_with_it() -> None:
    before = BEFORE
    after = before.model_copy(
        update={
            "columns": (
                *before.columns[:3],
                before.columns[3].model_copy(update={"name": "store"}),
                before.columns[4],
                CatalogColumn(name="shop", type="text", position=6),
            )
        }
    )
    changes = differences(before, after)
    waiting = {item.change_id for item in changes.values() if item.kind == "column_renamed"}
    assert accept_noted(before, after, events(changes, waiting), proving=True) == (before, ())


def test_table_on_which_all_is_decided_keeps_the_names_that_others_had() -> None:
    key = ForeignKey(name="fk", columns=("shop",), target="public.shops", target_columns=("id",))
    before = BEFORE.model_copy(update={"foreign_keys": (key,)})
    followed = key.model_copy(update={"target": "public.stores", "target_columns": ("store_id",)})
    after = before.model_copy(update={"foreign_keys": (followed,), "comment": "All orders"})
    waiting = Renames({"public.shops": "public.stores"}, {("public.shops", "id"): "store_id"})
    found = accept_decided(before, after, (), waiting)
    assert found.foreign_keys == (key,)
    assert found.comment == "All orders"
