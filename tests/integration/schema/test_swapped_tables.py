"""Tables whose names changed places, or whose name another table has now."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_core.errors import ConfigurationError
from rag_core.schema.decisions import accept_events
from rag_core.schema.events import list_events
from rag_core.schema.reused import list_reused
from tests.integration.schema.conftest import Playground
from tests.integration.schema.test_gate import Company
from tests.integration.schema.test_mend import ask

pytestmark = pytest.mark.integration

PROFIT = "What was profit last quarter?"
# Another table of the same form, such as the margins of another company.
TWIN = """
CREATE TABLE others (LIKE margins INCLUDING ALL);
INSERT INTO others VALUES (1, 'NOR', '2026-05-01', 7, 7);
"""
SWAP = """
BEGIN;
ALTER TABLE margins RENAME TO held;
ALTER TABLE others RENAME TO margins;
ALTER TABLE held RENAME TO others;
COMMIT;
"""


def _open(playground: Playground) -> dict[str, int]:
    return {event.change.object: event.event_id for event in list_events(playground.store, state="open")}


@pytest.fixture
def company(playground: Playground, tmp_path: Path) -> Company:
    with playground.store.connection() as connection:
        connection.execute("TRUNCATE nightshift.batch_run CASCADE")
    found = Company(playground, tmp_path)
    playground.run(TWIN)
    playground.check()
    return found


@pytest.mark.parametrize("checked", [True, False], ids=["after a check", "before any check"])
def test_no_question_is_answered_from_a_table_that_took_the_name(company: Company, checked: bool) -> None:
    playground = company.playground
    orchestrator = company.orchestrator()
    playground.run(SWAP)
    if checked:
        assert {(change.kind, change.object, change.after) for change in playground.check().changes} == {
            ("table_renamed", "public.margins", "public.others"),
            ("table_renamed", "public.others", "public.margins"),
        }
    answer = ask(orchestrator if not checked else company.orchestrator(), PROFIT)
    event = _open(playground)["public.margins"]
    assert answer.status == "failed"
    assert "table public.margins is called public.others since" in answer.text
    assert f"nightshift drift accept {event}" in answer.text
    accept_events(playground.store, [str(number) for number in _open(playground).values()], actor="ada")
    assert ask(company.orchestrator(), PROFIT).headline_value == 7
    assert playground.check().status == "unchanged"


@pytest.mark.parametrize("restarted", [True, False])
def test_table_that_took_the_name_and_lacks_the_column_is_not_told_as_a_removal(
    company: Company, restarted: bool
) -> None:
    playground = company.playground
    playground.run("CREATE TABLE visits (id int, day date)")
    playground.check()
    orchestrator = company.orchestrator()
    playground.run(SWAP.replace("others", "visits"))
    answer = ask(company.orchestrator() if restarted else orchestrator, PROFIT)
    assert answer.status == "failed"
    assert "table public.margins is called public.visits since" in answer.text


def test_swap_holds_the_batch_and_goes_back_without_a_trace(company: Company) -> None:
    playground = company.playground
    playground.run(SWAP)
    company.run()
    assert company.states() == {"profit": "paused", "freight": "paused"}
    assert "table public.margins is called public.others since" in company.outcome["profit"]
    assert [name for name, _ in list_reused(playground.store, playground.warehouse.snapshot())] == [
        "public.margins",
        "public.others",
    ]
    with pytest.raises(ConfigurationError, match="means another table now"):
        company.gate().take_up(company.batch(), "replace", actor="ada")
    playground.run(SWAP)
    assert len(playground.check().reverted) == 2
    company.run()
    assert company.states() == {"profit": "answered", "freight": "answered"}


def test_one_half_of_a_swap_waits_for_the_other(company: Company) -> None:
    playground = company.playground
    playground.run(SWAP)
    playground.check()
    accept_events(playground.store, [str(_open(playground)["public.others"])], actor="ada")
    playground.run("CREATE TABLE elsewhere (id int)")
    assert playground.changes() == [("table_added", "public.elsewhere")]
    assert list(_open(playground)) == ["public.margins"]
    accept_events(playground.store, [str(_open(playground)["public.margins"])], actor="ada")
    playground.run("ALTER TABLE elsewhere ADD n int")
    assert playground.changes() == [("column_added", "public.elsewhere.n")]
    assert _open(playground) == {}


def test_cycle_of_three_with_a_renamed_column(company: Company) -> None:
    playground = company.playground
    playground.run("CREATE TABLE third (id int, n int)")
    playground.check()
    playground.run("""
        BEGIN;
        ALTER TABLE margins RENAME TO held; ALTER TABLE others RENAME TO margins; ALTER TABLE third RENAME TO others;
        ALTER TABLE held RENAME TO third; ALTER TABLE third RENAME freight_cost TO haulage;
        COMMIT;
    """)
    assert {(change.object, change.after) for change in playground.check().changes} == {
        ("public.margins", "public.third"),
        ("public.others", "public.margins"),
        ("public.third", "public.others"),
        ("public.margins.freight_cost", "haulage"),
    }
    assert ask(company.orchestrator(), PROFIT).status == "failed"


def test_table_that_is_built_anew_with_the_old_one_kept_aside_is_told_once(company: Company) -> None:
    """Every night again, with one earlier build kept: all rows may be there, or those of a year may have moved away."""
    playground = company.playground
    rebuilt = """
        DROP TABLE IF EXISTS margins_kept; CREATE TABLE next (LIKE margins INCLUDING ALL);
        INSERT INTO next SELECT * FROM margins; ALTER TABLE next ADD FOREIGN KEY (region_code) REFERENCES regions;
        ALTER TABLE margins RENAME TO margins_kept; ALTER TABLE next RENAME TO margins;
    """
    playground.run(rebuilt)
    changes = {(change.kind, change.object, change.severity, change.before) for change in playground.check().changes}
    assert changes == {
        ("table_recreated", "public.margins", "risky", "kept as public.margins_kept"),
        ("table_added", "public.margins_kept", "compatible", None),
    }
    answer = ask(company.orchestrator(), PROFIT)
    assert answer.headline_value == 1021
    assert "able public.margins: table recreated (kept as public.margins_kept -> table) since" in answer.text
    accept_events(playground.store, [str(number) for number in _open(playground).values()], actor="ada")
    for _ in range(2):
        playground.run(rebuilt)
        assert playground.check().changes == ()
    assert ask(company.orchestrator(), PROFIT).headline_value == 1021


def test_other_table_under_the_name_of_one_that_was_set_aside(company: Company) -> None:
    playground = company.playground
    playground.run("ALTER TABLE margins RENAME TO margins_2025; CREATE TABLE margins (id int, month date)")
    changes = {(change.kind, change.object, change.severity) for change in playground.check().changes}
    assert ("table_renamed", "public.margins", "breaking") in changes
    assert not any(kind == "column_removed" for kind, _, _ in changes)
    answer = ask(company.orchestrator(), PROFIT)
    assert answer.status == "failed"


def test_new_table_under_a_name_whose_rename_was_accepted_long_ago(company: Company) -> None:
    playground = company.playground
    playground.run("ALTER TABLE margins RENAME TO results")
    playground.check()
    accept_events(playground.store, [str(_open(playground)["public.margins"])], actor="ada")
    assert ask(company.orchestrator(), PROFIT).headline_value == 1021
    playground.run("CREATE TABLE margins (LIKE results INCLUDING ALL)")
    change = playground.change()
    assert (change.kind, change.severity, change.before) == (
        "table_recreated",
        "breaking",
        "renamed to public.results",
    )
    answer = ask(company.orchestrator(), PROFIT)
    assert answer.status == "failed"
    assert "table public.margins is another one since" in answer.text
    assert playground.check().status == "unchanged"
    accept_events(playground.store, [str(_open(playground)["public.margins"])], actor="ada")
    playground.run("ALTER TABLE margins DROP freight_cost")
    assert playground.changes() == [("column_removed", "public.margins.freight_cost")]
