"""An answer whose statement runs in spite of a change that nobody has decided on says so, also to a lone question."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.connectors.embedded import EmbeddedPostgres
from rag_core.connectors.warehouses import open_warehouse
from rag_core.schema.cache import CatalogCache
from rag_core.schema.decisions import accept_events
from rag_core.schema.events import list_events
from rag_core.schema.mend import NOTICE_SECONDS, SchemaMender
from tests.integration.schema.conftest import READER, Playground
from tests.integration.schema.test_mend import World, ask
from tests.integration.schema.test_reused import FREIGHT, PROFIT, SWAP, TAKEN

pytestmark = pytest.mark.integration


@pytest.fixture
def world(playground: Playground, tmp_path: Path) -> World:
    return World(playground, tmp_path)


def _numbers(playground: Playground) -> list[str]:
    return [str(event.event_id) for event in list_events(playground.store, state="open")]


def _notes(world: World, text: str) -> list[str]:
    answer = ask(world.orchestrator(), text)
    return [finding.message for finding in answer.findings if finding.code == "schema_drift"]


@pytest.mark.parametrize("change", [SWAP, TAKEN], ids=["swapped", "taken"])
def test_lone_question_notices_a_name_in_use_again_without_a_check(world: World, change: str) -> None:
    world.playground.run(change)
    answer = ask(world.orchestrator(), FREIGHT)
    assert answer.status == "failed"
    assert "its old name means another column" in answer.text
    assert _numbers(world.playground) != []


def test_lone_question_before_the_first_check_makes_no_baseline(playground: Playground, tmp_path: Path) -> None:
    world = World(playground, tmp_path)
    with playground.store.connection() as connection:
        connection.execute("TRUNCATE nightshift.schema_baseline, nightshift.schema_snapshot CASCADE")
    assert ask(world.orchestrator(), FREIGHT).headline_value == 102
    assert playground.rows("SELECT count(*) FROM nightshift.schema_snapshot") == [(0,)]


def test_process_looks_for_changes_once_in_a_while(world: World) -> None:
    moment = [0.0]
    playground = world.playground
    mender = SchemaMender(
        playground.warehouse, playground.store, CatalogCache(playground.warehouse), clock=lambda: moment[0]
    )
    names = ("public.margins", "public.margins.freight_cost")
    before = world.checks()
    assert mender.require_names(names) == ()
    assert world.checks() == before
    playground.run("ALTER TABLE margins ALTER freight_cost TYPE double precision")
    assert mender.require_names(names) == ()
    moment[0] += NOTICE_SECONDS
    (caution,) = mender.require_names(names)
    assert caution.startswith(
        "column public.margins.freight_cost: type narrowed (numeric(12,2) -> double precision) since "
    )
    assert world.checks() == before + 1
    assert mender.require_names(("public.margins", "public.margins.profit_margin")) == ()


def test_answer_says_what_nobody_has_decided_on(world: World) -> None:
    playground = world.playground
    playground.run("ALTER TABLE margins DROP CONSTRAINT margins_pkey")
    (note,) = _notes(world, PROFIT)
    (number,) = _numbers(playground)
    assert note.startswith("table public.margins: primary key changed (id) since ")
    assert note.endswith(f"(event {number})")
    assert f"{note[1:]}." in ask(world.orchestrator(), PROFIT).text
    accept_events(playground.store, [number], actor="ada")
    assert _notes(world, PROFIT) == []


def test_statement_that_fails_by_an_undecided_change_names_it(world: World) -> None:
    world.playground.run("ALTER TABLE margins ALTER freight_cost TYPE text")
    answer = ask(world.orchestrator(), FREIGHT)
    assert answer.status == "failed"
    assert "public.margins.freight_cost: type changed (numeric(12,2) -> text) since " in answer.text


def test_what_one_principal_may_not_read_was_not_lost(world: World, pg_server: EmbeddedPostgres) -> None:
    playground = world.playground
    playground.run(f"GRANT USAGE ON SCHEMA public TO {READER}; GRANT SELECT (id, month) ON margins TO {READER}")
    playground.check()
    reader = open_warehouse(playground.dsn).for_principal(READER)
    cache = CatalogCache(reader)
    mender = SchemaMender(reader, playground.store, cache, watched=playground.warehouse)
    assert mender.require_names(("public.margins", "public.margins.month")) == ()
    mended = mender.mend("SELECT sum(profit) FROM margins", "profit")
    assert mended.drift is False
    assert list_events(playground.store) == ()
    playground.run("ALTER TABLE margins RENAME month TO booked")
    assert mender.mend("SELECT max(month) FROM margins", "month").sql is not None
    assert [event.change.kind for event in list_events(playground.store)] == ["column_renamed"]
    reader.close()
