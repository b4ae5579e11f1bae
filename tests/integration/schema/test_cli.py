"""`nightshift drift` and `nightshift schema joins` against real services, with the JSON of the contract."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from rag_core.cli import drift, joins, output
from rag_core.errors import ConfigurationError
from tests.integration.schema.conftest import Playground

pytestmark = pytest.mark.integration

CHANGE_KEYS = {
    "change_id", "kind", "object", "before", "after", "severity", "confidence", "candidates", "affected",
}  # fmt: skip


@pytest.fixture
def app(playground: Playground, monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    monkeypatch.setenv("NIGHTSHIFT_STORE__DSN", playground.store.dsn)
    monkeypatch.setenv("NIGHTSHIFT_WAREHOUSE__DSN", playground.dsn)
    app = typer.Typer()
    drift.register(app)
    group = typer.Typer()
    joins.add_joins_command(group)
    app.add_typer(group, name="schema")
    return app


def run(app: typer.Typer, *arguments: str, code: int = 0) -> dict[str, Any]:
    result = CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False)
    assert result.exit_code == code, result.output
    content: dict[str, Any] = json.loads(result.stdout)
    return content


def test_from_check_to_decision(app: typer.Typer, playground: Playground) -> None:
    playground.run("CREATE TABLE monthly_margins (month date, net_margin numeric, revenue numeric, note text)")
    assert run(app, "drift", "check")["status"] == "baseline"
    assert run(app, "drift", "check", "--no-record")["status"] == "unchanged"
    playground.run("ALTER TABLE monthly_margins RENAME net_margin TO margin_net; ALTER TABLE monthly_margins DROP note")
    report = run(app, "drift", "check")
    assert report["status"] == "changed"
    assert all(set(change) >= CHANGE_KEYS for change in report["changes"])
    renamed = next(change for change in report["changes"] if change["kind"] == "column_renamed")
    assert {"net_margin", "net_margin_percent"} <= {item["metric"] for item in renamed["affected"]}
    accepted = run(app, "drift", "accept", renamed["change_id"], "--note", "agreed", "--actor", "ada")
    assert [event["state"] for event in accepted["events"]] == ["accepted"]
    removed = next(change for change in report["changes"] if change["kind"] == "column_removed")
    run(app, "drift", "reject", removed["change_id"], "--actor", "ada")
    history = run(app, "drift", "history")
    assert {event["state"] for event in history["events"]} == {"accepted", "rejected"}
    assert {entry["actor"] for entry in history["decisions"]} == {"ada"}
    assert len(run(app, "drift", "history", "--state", "rejected")["events"]) == 1


def test_baseline_accepts_all_but_what_needs_a_closer_look(app: typer.Typer, playground: Playground) -> None:
    playground.run("CREATE TABLE t (id int, cust_id int, name text, a int, b int); CREATE TABLE u (id int, note text)")
    run(app, "drift", "check")
    playground.run("ALTER TABLE u DROP note")
    (rejected,) = run(app, "drift", "check")["changes"]
    run(app, "drift", "reject", rejected["change_id"])
    playground.run("""
        CREATE TABLE next (id int, customer_id int, name text, a int, b int); DROP TABLE t;
        ALTER TABLE next RENAME TO t; ALTER TABLE u ALTER id TYPE text; CREATE TABLE w (a int, b int);
    """)
    done = run(app, "drift", "baseline", "--note", "after the move", "--actor", "ada")
    assert [(item["change"]["kind"], item["state"]) for item in done["events"]] == [("type_changed", "accepted")]
    assert [item["change"]["object"] for item in done["left"]] == ["public.t.cust_id"]
    playground.run("ALTER TABLE w RENAME a TO held; ALTER TABLE w RENAME b TO a; ALTER TABLE w RENAME held TO b")
    done = run(app, "drift", "baseline")
    assert done["events"] == []
    assert {item["change"]["object"] for item in done["left"]} == {"public.t.cust_id", "public.w.a", "public.w.b"}
    assert "one by one" in CliRunner().invoke(app, ["drift", "baseline"]).stdout
    assert [item["change"]["object"] for item in run(app, "drift", "history", "--state", "rejected")["events"]] == [
        "public.u.note"
    ]


def test_baseline_waits_where_tables_vanished_in_great_number(app: typer.Typer, playground: Playground) -> None:
    playground.run("".join(f"CREATE TABLE t{number} (id int);" for number in range(6)))
    run(app, "drift", "check")
    playground.run("".join(f"DROP TABLE t{number};" for number in range(6)))
    with pytest.raises(ConfigurationError, match="cannot become the baseline: so many tables vanished"):
        CliRunner().invoke(app, ["drift", "baseline"], catch_exceptions=False)


def test_map(app: typer.Typer, playground: Playground) -> None:
    playground.run("CREATE TABLE t (id int, profit numeric, z text)")
    run(app, "drift", "check")
    playground.run("DROP TABLE t; CREATE TABLE t (id int, earnings numeric, z text)")
    removed = next(change for change in run(app, "drift", "check")["changes"] if change["kind"] == "column_removed")
    done = run(app, "drift", "map", removed["change_id"], "--to", "public.t.earnings", "--actor", "ada")
    assert done["events"][0]["state"] == "mapped"


def test_text_for_people(app: typer.Typer, playground: Playground, monkeypatch: pytest.MonkeyPatch) -> None:
    # The console took its width when it was made; here nobody folds a line.
    monkeypatch.setattr(output.console, "width", 200)
    playground.run("CREATE TABLE t (id int, a text)")
    runner = CliRunner()
    assert "baseline" in runner.invoke(app, ["drift", "check"]).stdout
    playground.run("ALTER TABLE t DROP a")
    assert "column_removed" in runner.invoke(app, ["drift", "check"]).stdout
    assert "column_removed" in runner.invoke(app, ["drift", "history"]).stdout


def test_warehouse_that_does_not_answer(app: typer.Typer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIGHTSHIFT_WAREHOUSE__DSN", "postgresql://nobody@127.0.0.1:1/nothing")
    report = run(app, "drift", "check", code=3)
    assert (report["status"], report["changes"]) == ("incomplete", [])


def test_joins(app: typer.Typer, playground: Playground) -> None:
    playground.run(
        "CREATE TABLE customers (id int PRIMARY KEY); INSERT INTO customers SELECT generate_series(1, 50);"
        "CREATE TABLE visits (customer_id int); INSERT INTO visits SELECT generate_series(1, 50)"
    )
    (join,) = run(app, "schema", "joins")["joins"]
    assert (join["left"], join["right"]) == ("public.visits.customer_id", "public.customers.id")
    assert (join["source"], join["status"]) == ("inferred", "usable")
    assert run(app, "schema", "joins", "--no-probe")["joins"][0]["status"] == "needs_approval"
    run(app, "schema", "reject-join", join["left"], join["right"], "--actor", "ada")
    assert run(app, "schema", "joins")["joins"][0]["status"] == "rejected"
    run(app, "schema", "approve-join", join["left"], join["right"], "--actor", "ada")
    assert run(app, "schema", "joins", "--no-probe")["joins"][0]["status"] == "usable"


MODEL = """\
# how the margin is read
version: 1
entities:
  margins: {table: public.margins, primary_key: [month], grain: a month}
time_dimensions:
  month: {label: Month, entity: margins, column: month}
dimensions: {}
metrics:
  margin: {label: Margin, entity: margins, expression: sum(net_margin), time: month}
"""


def test_repair(app: typer.Typer, playground: Playground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(MODEL, encoding="utf-8")
    monkeypatch.setenv("NIGHTSHIFT_WAREHOUSE__SEMANTIC_MODEL", str(path))
    playground.run("CREATE TABLE margins (month date PRIMARY KEY, net_margin numeric)")
    run(app, "drift", "check")
    assert run(app, "drift", "repair")["patch"] == ""
    playground.run("ALTER TABLE margins RENAME net_margin TO interim")
    renamed = run(app, "drift", "check")["changes"][0]
    run(app, "drift", "accept", renamed["change_id"])
    playground.run("ALTER TABLE margins RENAME interim TO margin_net; ALTER TABLE margins RENAME TO monthly_margins")
    run(app, "drift", "check")
    proposed = run(app, "drift", "repair")
    assert "+  margin: {label: Margin, entity: margins, expression: sum(margin_net), time: month}" in proposed["patch"]
    assert path.read_text(encoding="utf-8") == MODEL
    assert run(app, "drift", "repair", "--write")["written"] is True
    text = path.read_text(encoding="utf-8")
    assert "# how the margin is read" in text
    assert "table: public.monthly_margins" in text
    assert run(app, "drift", "repair")["patch"] == ""


def test_repair_lists_what_it_must_not_rewrite(app: typer.Typer, playground: Playground) -> None:
    playground.run("CREATE TABLE monthly_margins (month date, freight_cost numeric, operating_cost numeric)")
    run(app, "drift", "check")
    playground.run("""
        ALTER TABLE monthly_margins RENAME freight_cost TO held;
        ALTER TABLE monthly_margins RENAME operating_cost TO freight_cost;
        ALTER TABLE monthly_margins RENAME held TO operating_cost;
    """)
    report = run(app, "drift", "check")
    touched = {item["metric"] for change in report["changes"] for item in change["affected"]}
    assert "freight_cost" in touched
    found = run(app, "drift", "repair", code=1)
    assert {item["key"].rsplit(".", 1)[-1] for item in found["faults"]} == {"freight_cost", "operating_cost"}
    assert not found["written"]
    assert found["patch"] == ""
