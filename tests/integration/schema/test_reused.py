"""A name that means another column now: nobody is answered from it before a person has decided."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.errors import ConfigurationError
from rag_core.schema.decisions import accept_events
from rag_core.schema.events import list_events
from rag_core.schema.repair import pending_renames
from tests.integration.schema.conftest import Playground
from tests.integration.schema.test_gate import Company
from tests.integration.schema.test_mend import World, ask

pytestmark = pytest.mark.integration

FREIGHT, PROFIT = "What was freight last quarter?", "What was profit last quarter?"
SWAP = """
BEGIN;
ALTER TABLE margins RENAME freight_cost TO held;
ALTER TABLE margins RENAME profit_margin TO freight_cost;
ALTER TABLE margins RENAME held TO profit_margin;
COMMIT;
"""
TAKEN = (
    "ALTER TABLE margins RENAME freight_cost TO haulage; ALTER TABLE margins ADD freight_cost numeric(12, 2) DEFAULT 5"
)


def _open(playground: Playground) -> dict[str, int]:
    return {event.change.object: event.event_id for event in list_events(playground.store, state="open")}


@pytest.fixture
def world(playground: Playground, tmp_path: Path) -> World:
    return World(playground, tmp_path)


@pytest.fixture
def company(playground: Playground, tmp_path: Path) -> Company:
    with playground.store.connection() as connection:
        connection.execute("TRUNCATE nightshift.batch_run CASCADE")
    return Company(playground, tmp_path)


@pytest.mark.parametrize("change", [SWAP, TAKEN], ids=["swapped", "taken"])
def test_question_is_not_answered_from_a_name_that_means_another_column(world: World, change: str) -> None:
    assert ask(world.orchestrator(), FREIGHT).headline_value == 102
    world.playground.run(change)
    world.playground.check()
    answer = ask(world.orchestrator(), FREIGHT)
    event = _open(world.playground)["public.margins.freight_cost"]
    assert answer.status == "failed"
    assert "public.margins.freight_cost is called" in answer.text
    assert "its old name means another column" in answer.text
    assert f"nightshift drift accept {event}" in answer.text
    accept_events(world.playground.store, [str(number) for number in _open(world.playground).values()], actor="ada")
    assert ask(world.orchestrator(), FREIGHT).status == "answered"


def test_swap_holds_the_batchs_questions_until_somebody_accepts_it(company: Company) -> None:
    company.playground.run(SWAP)
    report = company.playground.check()
    assert {item.question_id for change in report.changes for item in change.affected} == {"profit", "freight"}
    answers = company.run()
    assert company.states() == {"profit": "paused", "freight": "paused"}
    assert "public.margins.freight_cost is called profit_margin since" in answers["freight"]
    with pytest.raises(ConfigurationError, match="means another column now"):
        company.gate().take_up(company.batch(), "replace", actor="ada")
    assert company.gate().take_up(company.batch(), "accept", actor="ada").held == ()


def test_name_of_a_column_whose_rename_was_accepted_long_ago_is_taken(company: Company) -> None:
    playground = company.playground
    playground.run("ALTER TABLE margins RENAME freight_cost TO haulage")
    playground.check()
    accept_events(playground.store, [str(_open(playground)["public.margins.freight_cost"])], actor="ada")
    company.run()
    assert company.states()["freight"] == "answered"
    playground.run("ALTER TABLE margins ADD freight_cost numeric(12, 2) DEFAULT 5")
    change = playground.change()
    assert (change.kind, change.severity, change.before) == ("column_recreated", "breaking", "renamed to haulage")
    assert ask(company.orchestrator(), FREIGHT).status == "failed"
    assert ask(company.orchestrator(), PROFIT).status == "answered"
    assert playground.check().status == "unchanged"
    playground.run("ALTER TABLE margins DROP freight_cost")
    playground.check()
    assert _open(playground) == {}
    assert ask(company.orchestrator(), FREIGHT).headline_value == 102


def test_no_statement_is_rewritten_to_a_name_that_is_in_use_again(world: World) -> None:
    """`profit_margin` became `freight_cost`, which was another column until then."""
    world.playground.run(
        "ALTER TABLE margins RENAME freight_cost TO haulage; ALTER TABLE margins RENAME profit_margin TO freight_cost"
    )
    world.playground.check()
    now = world.playground.warehouse.snapshot()
    assert pending_renames(world.playground.store, now).empty
    for question in (PROFIT, FREIGHT):
        assert ask(world.orchestrator(), question).status == "failed"
