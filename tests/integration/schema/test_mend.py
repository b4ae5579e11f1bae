"""A question meets a column or table that is gone: it goes on with the new name, or says clearly what happened."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rag_core.connectors.postgres import PostgresWarehouse
from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.answer import Answer
from rag_core.policy.rules import Policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.schema.cache import CatalogCache
from rag_core.schema.decisions import accept_events
from rag_core.schema.events import list_events
from rag_core.schema.mend import SchemaMender
from rag_core.semantics.model import load_semantic_model
from rag_core.semantics.values import read_values
from tests.integration.schema.conftest import Playground
from tests.question_world import WordSearch

if TYPE_CHECKING:
    from rag_core.graph.build import Orchestrator

pytestmark = pytest.mark.integration

MODEL = """\
version: 1
dialect: postgres
entities:
  regions: {table: public.regions, primary_key: [code], grain: one row a region}
  margins: {table: public.margins, primary_key: [id], grain: one row a month and region}
joins:
  - {from: margins, to: regions, columns: {region_code: code}}
time_dimensions:
  month: {label: Month, entity: margins, column: month}
dimensions:
  region: {label: Region, entity: regions, expression: name, synonyms: [region]}
metrics:
  profit: {label: Profit, synonyms: [profit], entity: margins, expression: sum(profit_margin), time: month, unit: EUR}
  freight: {label: Freight, synonyms: [freight], entity: margins, expression: sum(freight_cost), time: month, unit: EUR}
"""
ROWS = """
CREATE TABLE regions (code text PRIMARY KEY, name text);
INSERT INTO regions VALUES ('NOR', 'Nordics'), ('IBE', 'Iberia');
CREATE TABLE margins (
    id int PRIMARY KEY, region_code text REFERENCES regions, month date, profit_margin numeric(12, 2),
    freight_cost numeric(12, 2)
);
INSERT INTO margins VALUES (1, 'NOR', '2026-05-01', 700, 70), (2, 'IBE', '2026-06-01', 321, 32);
"""
RUN_DATE = date(2026, 7, 1)


class World:
    """The playground with margins, and orchestrators over it."""

    def __init__(self, playground: Playground, folder: Path) -> None:
        self.playground = playground
        path = folder / "semantic_model.yaml"
        path.write_text(MODEL, encoding="utf-8")
        self.model = load_semantic_model(path)
        playground.run(ROWS)
        playground.check()

    def orchestrator(self, **more: object) -> Orchestrator:
        from rag_core.graph.build import create_orchestrator

        warehouse = self.playground.warehouse
        cache = CatalogCache(warehouse)
        guard = SqlGuard(Policy(version=1, schemas=("public",)), cache.current())
        return create_orchestrator(
            warehouse=warehouse,
            guard=guard,
            catalog_cache=cache,
            semantic_model=self.model,
            values=read_values(self.model, warehouse, guard),
            search=WordSearch(()),
            store=self.playground.store,
            **more,
        )

    def checks(self) -> int:
        """How often the schema was checked."""
        return int(self.playground.rows("SELECT count(*) FROM nightshift.drift_run")[0][0])


@pytest.fixture
def world(playground: Playground, tmp_path: Path) -> World:
    return World(playground, tmp_path)


def ask(orchestrator: Orchestrator, text: str) -> Answer:
    return orchestrator.answer(text, run_date=RUN_DATE)


def _notes(answer: Answer) -> list[str]:
    return [finding.message for finding in answer.findings if finding.code == "schema_drift"]


def test_renamed_column_is_followed_and_the_answer_says_so(world: World) -> None:
    orchestrator = world.orchestrator()
    before = ask(orchestrator, "What was profit last quarter?")
    assert (before.status, _notes(before)) == ("answered", [])
    world.playground.run("ALTER TABLE margins RENAME profit_margin TO net_margin")
    after = ask(orchestrator, "What was profit last quarter?")
    assert (after.status, after.headline_value) == ("answered", before.headline_value)
    assert after.headline_value == 1021
    (note,) = _notes(after)
    assert note.startswith("column profit_margin not found; net_margin has replaced it since ")
    assert note.endswith(": used")
    assert note[1:] in after.text
    assert "net_margin" in after.sql[0].sql
    assert after.sql[0].confidence == 1.0
    assert [event.change.kind for event in list_events(world.playground.store)] == ["column_renamed"]


def test_process_that_starts_after_the_rename_follows_it_too(world: World) -> None:
    world.playground.run("ALTER TABLE margins RENAME profit_margin TO net_margin; ALTER TABLE margins RENAME TO result")
    world.playground.check()
    answer = ask(world.orchestrator(), "What was profit by region last quarter?")
    assert answer.status == "answered"
    assert "Nordics" in answer.text
    assert "public.margins not found; public.result has replaced it" in _notes(answer)[0]
    assert "column profit_margin not found; net_margin has replaced it" in _notes(answer)[0]


def test_dropped_column_is_said_honestly(world: World) -> None:
    orchestrator = world.orchestrator()
    world.playground.run("ALTER TABLE margins DROP freight_cost")
    answer = ask(orchestrator, "What was freight last quarter?")
    assert answer.status == "failed"
    assert "column public.margins.freight_cost was removed, found on " in answer.text
    assert ask(orchestrator, "What was profit last quarter?").status == "answered"


def test_probable_rename_waits_for_a_person(world: World) -> None:
    """The table is rebuilt, so that nothing proves the new name."""
    world.playground.run("""
        CREATE TABLE next (LIKE margins INCLUDING ALL);
        INSERT INTO next SELECT * FROM margins;
        ALTER TABLE next RENAME freight_cost TO freight_costs;
        DROP TABLE margins;
        ALTER TABLE next RENAME TO margins;
    """)
    orchestrator = world.orchestrator()
    answer = ask(orchestrator, "What was freight last quarter?")
    (event,) = [item for item in list_events(world.playground.store) if item.change.kind == "column_renamed"]
    assert answer.status == "failed"
    assert f"nightshift drift accept {event.event_id}" in answer.text
    accept_events(world.playground.store, [str(event.event_id)], actor="ada")
    answer = ask(orchestrator, "What was freight last quarter?")
    assert (answer.status, answer.headline_value) == ("answered", 102)
    assert "freight_costs has replaced it" in _notes(answer)[0]


def test_many_questions_at_once_take_one_snapshot(world: World) -> None:
    orchestrator = world.orchestrator()
    world.playground.run("ALTER TABLE margins RENAME profit_margin TO net_margin")
    before = world.checks()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ask(orchestrator, "What was profit last quarter?"), range(16)))
    assert {answer.headline_value for answer in answers} == {1021}
    assert world.checks() == before + 1
    assert len(list_events(world.playground.store)) == 1


def test_name_that_a_model_invented_is_no_drift(world: World) -> None:
    mender = SchemaMender(world.playground.warehouse, world.playground.store, CatalogCache(world.playground.warehouse))
    mended = mender.mend("SELECT sum(net_sales) FROM margins", "net_sales")
    assert (mended.sql, mended.drift, mended.refreshed) == (None, False, False)
    assert list_events(world.playground.store) == ()


def test_case_that_needs_quotes_offers_the_right_spelling(world: World) -> None:
    world.playground.run('ALTER TABLE regions ADD "Net Sales" numeric')
    world.playground.check()
    mender = SchemaMender(world.playground.warehouse, world.playground.store, CatalogCache(world.playground.warehouse))
    mended = mender.mend('SELECT "net sales" FROM regions', "net sales")
    assert (mended.sql, mended.drift, mended.suggestions) == (None, False, ("public.regions.Net Sales",))


def test_new_column_that_the_kept_schema_lacks_is_read(world: World) -> None:
    cache = CatalogCache(world.playground.warehouse)
    cache.current()
    world.playground.run("ALTER TABLE margins ADD tax numeric")
    world.playground.check()
    mended = SchemaMender(world.playground.warehouse, world.playground.store, cache).mend(
        "SELECT sum(tax) FROM margins", "tax"
    )
    assert (mended.sql, mended.message, mended.refreshed) == ("SELECT sum(tax) FROM margins", "", True)


def test_statement_that_cannot_follow_says_why(world: World) -> None:
    cache = CatalogCache(world.playground.warehouse)
    cache.current()
    world.playground.run("ALTER TABLE margins RENAME profit_margin TO net_margin")
    sql = "SELECT profit_margin FROM margins NATURAL JOIN regions"
    mended = SchemaMender(world.playground.warehouse, world.playground.store, cache).mend(sql, "profit_margin")
    assert mended.sql is None or "net_margin" in mended.sql
    assert mended.drift
    assert "net_margin has replaced it" in mended.message


def test_warehouse_that_is_gone_leaves_the_fault_as_it_is(world: World) -> None:
    cache = CatalogCache(world.playground.warehouse)
    cache.current()
    nowhere = open_warehouse("postgresql://nobody@127.0.0.1:1/nothing")
    assert isinstance(nowhere, PostgresWarehouse)
    mended = SchemaMender(nowhere, world.playground.store, cache).mend("SELECT profit FROM margins", "profit_margin")
    nowhere.close()
    assert (mended.sql, mended.drift) == (None, False)
