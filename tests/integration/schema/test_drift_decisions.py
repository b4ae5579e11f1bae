"""What a person decides about an event, accepted, rejected or mapped, and what that changes."""

from __future__ import annotations

import pytest

from rag_core.errors import ConfigurationError
from rag_core.schema.decisions import accept_events, map_event, reject_events
from rag_core.schema.events import list_decisions, list_events
from tests.integration.schema.conftest import Playground
from tests.integration.schema.test_drift_lifecycle import TABLE

pytestmark = pytest.mark.integration


def test_accept_moves_the_accepted_schema(playground: Playground) -> None:
    playground.run(TABLE)
    playground.check()
    playground.run("ALTER TABLE t RENAME amt TO amount")
    change = playground.change()
    (event,) = accept_events(playground.store, [change.change_id], actor="ada", note="agreed with Finance")
    assert (event.state, event.decided_by, event.note) == ("accepted", "ada", "agreed with Finance")
    assert playground.check().open_events == 0
    playground.run("ALTER TABLE t RENAME amount TO amt")
    back = playground.change()
    assert (back.before, back.after) == ("amount", "amt")
    with pytest.raises(ConfigurationError, match="nothing to decide"):
        accept_events(playground.store, [str(event.event_id)], actor="ada")


def test_a_bad_name_decides_nothing(playground: Playground) -> None:
    playground.run(TABLE)
    playground.check()
    playground.run("ALTER TABLE t DROP note")
    change = playground.change()
    with pytest.raises(ConfigurationError, match="no drift event 'nonsense'"):
        accept_events(playground.store, [change.change_id, "nonsense"], actor="ada")
    assert [event.state for event in list_events(playground.store)] == ["open"]


def test_reject_stays_until_it_is_undone(playground: Playground) -> None:
    playground.run("CREATE TABLE t (id int, a int)")
    playground.check()
    playground.run("ALTER TABLE t RENAME a TO b")
    change = playground.change()
    reject_events(playground.store, [change.change_id], actor="ada")
    report = playground.check()
    assert (report.status, report.open_events) == ("unchanged", 0)
    playground.run("ALTER TABLE t ADD c int")
    assert [item.kind for item in playground.check().changes] == ["column_added"]
    playground.run("ALTER TABLE t RENAME b TO a")
    assert len(playground.check().reverted) == 1


REBUILT = "DROP TABLE t; CREATE TABLE t (id int PRIMARY KEY, amount numeric, note text)"


def test_accepting_a_probable_rename_confirms_it(playground: Playground) -> None:
    playground.run(TABLE)
    playground.check()
    playground.run(REBUILT)
    change = playground.change()
    assert change.confidence < 1
    accept_events(playground.store, [change.change_id], actor="ada")
    assert playground.check().status == "unchanged"
    assert playground.rows("SELECT before_object, after_object, verdict FROM nightshift.rename_decision") == [
        ("public.t.amt", "public.t.amount", "confirmed")
    ]


def test_rejecting_a_probable_rename_leaves_a_removal(playground: Playground) -> None:
    playground.run(TABLE)
    playground.check()
    playground.run(REBUILT)
    reject_events(playground.store, [playground.change().change_id], actor="ada")
    states = {event.change.kind: event.state for event in list_events(playground.store)}
    assert states == {"column_renamed": "superseded", "column_removed": "open", "column_added": "noted"}


def test_map_says_what_a_column_became(playground: Playground) -> None:
    playground.run("CREATE TABLE t (id int, profit_margin numeric, z text)")
    playground.check()
    playground.run("DROP TABLE t; CREATE TABLE t (id int, net_margin numeric, z text)")
    report = playground.check()
    removed = next(change for change in report.changes if change.kind == "column_removed")
    with pytest.raises(ConfigurationError, match="did not appear"):
        map_event(playground.store, removed.change_id, "nowhere", actor="ada")
    event = map_event(playground.store, removed.change_id, "net_margin", actor="ada")
    assert (event.state, event.decided_by) == ("mapped", "ada")
    states = {item.change.kind: item.state for item in list_events(playground.store)}
    assert states["column_renamed"] == "accepted"
    assert playground.check().status == "unchanged"
    assert playground.check().open_events == 0


def test_map_a_table(playground: Playground) -> None:
    playground.run(TABLE + "CREATE TABLE keep (a int)")
    playground.check()
    playground.run("DROP TABLE t; CREATE TABLE completely_different (id int PRIMARY KEY, amt numeric, note text)")
    report = playground.check()
    removed = next(change for change in report.changes if change.kind == "table_removed")
    map_event(playground.store, removed.change_id, "public.completely_different", actor="ada")
    assert {item.change.kind: item.state for item in list_events(playground.store)}["table_renamed"] == "accepted"
    assert playground.check().open_events == 0
    playground.run("ALTER TABLE completely_different DROP note")
    assert playground.changes() == [("column_removed", "public.completely_different.note")]


def test_missed_table_is_mapped_to_one_that_was_noted_on_another_day(playground: Playground) -> None:
    playground.run(TABLE + "CREATE TABLE missed (id int, q text)")
    playground.check()
    playground.run("DROP TABLE missed")
    playground.check()
    playground.run("CREATE TABLE haulage (id int, z text)")
    assert playground.changes() == [("table_added", "public.haulage")]
    gone = next(event for event in list_events(playground.store) if event.change.kind == "table_removed")
    assert map_event(playground.store, str(gone.event_id), "public.haulage", actor="ada").state == "mapped"
    renamed = next(event for event in list_events(playground.store) if event.change.kind == "table_renamed")
    assert (renamed.change.object, renamed.change.after) == ("public.missed", "public.haulage")
    assert renamed.state == "accepted"


@pytest.mark.parametrize("target", ["public.t.nope", "public.nope.total", "nope", "public.t"])
def test_mapping_to_what_is_not_there_is_refused_and_changes_nothing(playground: Playground, target: str) -> None:
    """Nothing proves the new name, because the table was rebuilt; a proposed rename is no reason to take any name."""
    playground.run(TABLE)
    playground.check()
    playground.run("DROP TABLE t; CREATE TABLE t (id int PRIMARY KEY, amount numeric, note text)")
    event = next(event for event in playground.check().changes if event.column == "amt")
    with pytest.raises(ConfigurationError, match="there is no such column"):
        map_event(playground.store, event.change_id, target, actor="ada")
    assert list_decisions(playground.store) == ()
    assert playground.rows("SELECT count(*) FROM nightshift.rename_decision") == [(0,)]


def test_table_that_was_always_there_is_not_what_another_became(playground: Playground) -> None:
    playground.run(TABLE + "CREATE TABLE other (id int, q text); CREATE TABLE old (id int)")
    playground.check()
    playground.run("DROP TABLE other")
    event = playground.change()
    with pytest.raises(ConfigurationError, match="cannot be its new name"):
        map_event(playground.store, event.change_id, "public.old", actor="ada")
    with pytest.raises(ConfigurationError, match="there is no such table"):
        map_event(playground.store, event.change_id, "public.nope", actor="ada")


@pytest.mark.parametrize("what", ["column", "table"])
def test_mapping_is_taken_back_and_made_anew(playground: Playground, what: str) -> None:
    playground.run("CREATE TABLE t (id int, profit_margin numeric, z text)")
    playground.check()
    if what == "column":
        playground.run("DROP TABLE t; CREATE TABLE t (id int, net_margin numeric, z text, freight numeric)")
        targets = ("public.t.freight", "public.t.net_margin")
    else:
        playground.run("CREATE TABLE haulage (LIKE t); CREATE TABLE harbour (id int, z text); DROP TABLE t")
        targets = ("public.harbour", "public.haulage")
    removed = next(item for item in playground.check().changes if item.kind == f"{what}_removed")
    event = map_event(playground.store, removed.change_id, targets[0], actor="ada")
    (back,) = reject_events(playground.store, [str(event.event_id)], actor="bo")
    assert (back.state, back.decided_by) == ("rejected", "bo")
    renames = [item.state for item in list_events(playground.store) if item.change.kind == f"{what}_renamed"]
    assert renames == ["reverted"]
    assert playground.check().changes == ()
    assert map_event(playground.store, str(event.event_id), targets[1], actor="ada").state == "mapped"
    (done,) = list_events(playground.store, state="accepted")
    assert done.change.after == targets[1].removeprefix("public.t.")
    assert playground.check().open_events == 0
