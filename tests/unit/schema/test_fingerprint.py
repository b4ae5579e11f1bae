"""Fingerprints follow the structure and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from rag_core.datamodel.catalog import CatalogColumn, CatalogTable, UniqueKey
from rag_core.schema.fingerprint import fingerprint, table_fingerprint
from tests.warehouse_world import world


def test_order_time_and_counts_do_not_matter() -> None:
    catalog = world()
    turned = catalog.model_copy(
        update={
            "tables": tuple(
                table.model_copy(update={"row_estimate": 5, "object_id": 7, "readable": False})
                for table in reversed(catalog.tables)
            ),
            "taken_at": datetime(2030, 1, 1, tzinfo=UTC),
            "functions": {},
        }
    )
    assert fingerprint(turned) == fingerprint(catalog)
    assert len(fingerprint(catalog)) == 64


TABLE = CatalogTable(
    schema_name="s",
    name="t",
    columns=(CatalogColumn(name="a", type="integer", position=1), CatalogColumn(name="b", type="text", position=2)),
)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "u"},
        {"comment": "new"},
        {"kind": "view"},
        {"definition": "SELECT 1"},
        {"keys": (UniqueKey(name="k", columns=("a",)),)},
        {"columns": TABLE.columns[:1]},
        {"columns": (TABLE.columns[0], TABLE.columns[1].model_copy(update={"type": "integer"}))},
        {"columns": (TABLE.columns[0], TABLE.columns[1].model_copy(update={"nullable": False}))},
        {"columns": (TABLE.columns[0], TABLE.columns[1].model_copy(update={"comment": "c"}))},
    ],
)
def test_every_change_of_structure_shows(change: dict[str, object]) -> None:
    assert table_fingerprint(TABLE.model_copy(update=change)) != table_fingerprint(TABLE)
