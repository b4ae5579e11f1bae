"""A statement names something that is not there: what is behind it, with one snapshot for many callers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from rag_core.connectors.base import Warehouse
from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.catalog import Catalog
from rag_core.policy.rules import Policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.schema.decisions import accept_events
from rag_core.schema.drift import UnknownName, explain_unknown
from rag_core.schema.events import list_events
from tests.integration.schema.conftest import READER, Playground

pytestmark = pytest.mark.integration

MARGINS = 'CREATE TABLE margins (month date, region_code text, profit_margin numeric, "Mixed Case" int);'


def ask(playground: Playground, name: str, cached: Catalog) -> UnknownName:
    return explain_unknown(name, cached, playground.warehouse, playground.store)


@pytest.fixture
def cached(playground: Playground) -> Catalog:
    playground.run(MARGINS + "CREATE TABLE orders (order_id int, amt numeric)")
    playground.check()
    return playground.warehouse.snapshot()


def test_renamed_column_is_drift_with_its_new_name(playground: Playground, cached: Catalog) -> None:
    playground.run("ALTER TABLE margins RENAME profit_margin TO net_margin")
    found = ask(playground, "m.profit_margin", cached)
    assert (found.kind, found.drift, found.replacement) == ("renamed", True, "public.margins.net_margin")
    assert found.message.startswith("column profit_margin not found; net_margin has replaced it since ")
    assert [event.change.kind for event in list_events(playground.store)] == ["column_renamed"]


def test_many_questions_take_one_snapshot(playground: Playground, cached: Catalog) -> None:
    playground.run("ALTER TABLE margins RENAME profit_margin TO net_margin")
    before = playground.rows("SELECT count(*) FROM nightshift.drift_run")
    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(lambda _: ask(playground, "profit_margin", cached), range(200)))
    assert {item.replacement for item in found} == {"public.margins.net_margin"}
    assert playground.rows("SELECT count(*) FROM nightshift.drift_run") == [(before[0][0] + 1,)]
    assert len(list_events(playground.store)) == 1


def test_removed_column(playground: Playground, cached: Catalog) -> None:
    playground.run("ALTER TABLE margins DROP profit_margin")
    found = ask(playground, "public.margins.profit_margin", cached)
    assert (found.kind, found.drift, found.replacement) == ("removed", True, None)
    assert "was removed" in found.message


def test_renamed_table_and_its_columns(playground: Playground, cached: Catalog) -> None:
    playground.run("ALTER TABLE margins RENAME TO monthly_margins")
    assert ask(playground, "margins", cached).replacement == "public.monthly_margins"
    found = ask(playground, "margins.profit_margin", cached)
    assert (found.kind, found.replacement) == ("renamed", "public.monthly_margins.profit_margin")


def test_invented_name_is_no_drift(playground: Playground, cached: Catalog) -> None:
    found = ask(playground, "profit_margn", cached)
    assert (found.kind, found.drift) == ("invented", False)
    assert found.suggestions[0] == "public.margins.profit_margin"
    assert list_events(playground.store) == ()


def test_invented_names_do_not_read_the_schema_again_and_again(playground: Playground, cached: Catalog) -> None:
    before = playground.rows("SELECT count(*) FROM nightshift.drift_run")
    for number in range(5):
        assert ask(playground, f"nonsense_{number}", cached).kind == "invented"
    assert playground.rows("SELECT count(*) FROM nightshift.drift_run") == before


def test_wrong_case_is_a_quoting_error(playground: Playground, cached: Catalog) -> None:
    found = ask(playground, "mixed case", cached)
    assert (found.kind, found.drift, found.replacement) == ("quoting", False, "public.margins.Mixed Case")
    assert found.suggestions == ('"Mixed Case"',)


def test_name_that_is_there_is_a_fault_of_the_statement(playground: Playground, cached: Catalog) -> None:
    found = ask(playground, "amt", cached)
    assert (found.kind, found.drift, found.object) == ("present", False, "public.orders.amt")


def test_rename_known_since_an_earlier_night(playground: Playground, cached: Catalog) -> None:
    playground.run("ALTER TABLE margins RENAME profit_margin TO net_margin")
    accept_events(playground.store, [playground.change().change_id], actor="ada")
    fresh = playground.warehouse.snapshot()
    found = ask(playground, "profit_margin", fresh)
    assert (found.kind, found.replacement) == ("renamed", "public.margins.net_margin")


def test_lost_access(playground: Playground, reader_warehouse: Warehouse) -> None:
    playground.run(MARGINS + f"GRANT SELECT ON margins TO {READER}")
    playground.check()
    cached = reader_warehouse.snapshot()
    playground.run(f"REVOKE SELECT ON margins FROM {READER}")
    found = ask(playground, "margins", cached)
    assert (found.kind, found.drift) == ("access_lost", True)


def test_warehouse_down_is_said_so(playground: Playground, cached: Catalog) -> None:
    nowhere = open_warehouse("postgresql://nobody@127.0.0.1:1/nothing")
    found = explain_unknown("profit_margin", cached, nowhere, playground.store)
    nowhere.close()
    assert (found.kind, found.drift) == ("unclear", False)


def test_schema_that_the_role_lost_is_not_permitted_rather_than_unknown(
    playground: Playground, reader_warehouse: Warehouse
) -> None:
    playground.run("CREATE SCHEMA ops; CREATE TABLE ops.incidents (id int); CREATE SCHEMA secret")
    playground.run(f"GRANT USAGE ON SCHEMA ops TO {READER}; GRANT SELECT ON ops.incidents TO {READER}")
    policy = Policy(version=1, schemas=("public", "ops"))
    statement = "SELECT count(*) FROM ops.incidents"
    assert SqlGuard(policy, reader_warehouse.snapshot()).check(statement).allowed
    playground.run(f"REVOKE USAGE ON SCHEMA ops FROM {READER}")
    guard = SqlGuard(policy, reader_warehouse.snapshot())
    verdict = guard.check(statement)
    assert (verdict.allowed, verdict.code) == (False, "not_permitted")
    assert "may not use the schema ops" in verdict.message
    # What the policy does not open is not said to exist.
    assert guard.check("SELECT 1 FROM secret.t").code == "unknown_table"
