"""`sql check`, `sql run` and `schema show` on the sample warehouse, as the role that may only read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from rag_core.cli import schema, sql
from rag_core.errors import ConfigurationError, ServiceUnavailable

pytestmark = pytest.mark.integration
Command = Callable[..., tuple[int, Any]]


@pytest.fixture
def command(reader_dsn: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """Runs a command with `--json`; gives the exit code and what it printed. Errors of ours come out as raised."""
    monkeypatch.setenv("NIGHTSHIFT_WAREHOUSE__DSN", reader_dsn)
    monkeypatch.setenv("NIGHTSHIFT_HOME", str(tmp_path))
    app = typer.Typer()
    sql.register(app)
    schema.register(app)

    def call(*words: str) -> tuple[int, Any]:
        result = CliRunner().invoke(app, [*words, "--json"])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, json.loads(result.stdout)

    return call


def test_check_tells_the_verdict(command: Command) -> None:
    code, printed = command("sql", "check", "SELECT region_name FROM regions")
    assert code == 0
    assert {"allowed", "code", "message", "suggestions", "tables", "columns", "dialect"} <= printed.keys()
    assert (printed["allowed"], printed["tables"]) == (True, ["public.regions"])


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("SELECT * FROM pii_raw", "table_excluded"),
        ("DELETE FROM orders", "write"),
        ("SELECT sum(region_name) FROM regions", "type"),
        ("SELECT customer_id, sum(order_total) AS s FROM orders GROUP BY 1 HAVING s > 1", "alias_not_allowed"),
        ("SELECT region_code, sales_lead FROM regions GROUP BY sales_lead", "syntax"),
        ("SELECT pg_sleep(1)", "function_not_allowed"),
        ("SELECT TargetAmount FROM SalesTarget", "quoting"),
    ],
)
def test_check_refuses_with_a_code_and_exit_1(command: Command, statement: str, code: str) -> None:
    exit_code, printed = command("sql", "check", statement)
    assert (exit_code, printed["allowed"], printed["code"]) == (1, False, code)


def test_run_prints_exact_values(command: Command) -> None:
    code, printed = command(
        "sql",
        "run",
        "SELECT region_code, 1.50::numeric(5, 2) AS n, NULL AS x, 'NaN'::float8 AS f FROM regions ORDER BY 1",
    )
    assert code == 0
    assert printed["columns"][1] == {"name": "n", "type": "numeric(5,2)"}
    assert printed["rows"][0] == ["BNL", "1.50", None, "nan"]
    assert (printed["row_count"], printed["truncated_by"]) == (5, None)


def test_run_keeps_the_policys_limits(command: Command) -> None:
    code, printed = command("sql", "run", "SELECT order_id FROM orders -- all of them")
    assert code == 0
    assert (printed["row_count"], printed["truncated_by"]) == (10_000, "rows")
    code, printed = command("sql", "run", "SELECT 1 / (order_id - order_id) FROM orders")
    assert (code, printed["code"]) == (1, "data")
    code, printed = command("sql", "run", "SELECT email FROM pii_raw")
    assert (code, printed["code"]) == (1, "table_excluded")


def test_show_lists_what_questions_may_use(command: Command) -> None:
    code, printed = command("schema", "show")
    assert code == 0
    names = {f"{table['schema']}.{table['name']}" for table in printed["tables"]}
    assert {"public.orders", "public.SalesTarget", "public.monthly_revenue", "ops.incidents"} <= names
    assert "public.pii_raw" not in names
    assert not any("orders_20" in name for name in names)
    assert printed["warnings"] == []
    assert len(printed["fingerprint"]) == 64


def test_show_one_table(command: Command) -> None:
    code, printed = command("schema", "show", "customers")
    assert code == 0
    (table,) = printed["tables"]
    assert table["foreign_keys"][0]["target"] == "public.countries"
    segment = next(column for column in table["columns"] if column["name"] == "segment")
    assert segment["enum_labels"] == ["smb", "mid_market", "enterprise"]
    assert segment["comment"].startswith("Size class")
    with pytest.raises(ConfigurationError, match=r"did you mean public\.customers\?"):
        command("schema", "show", "custmers")


def test_wrong_settings_are_told(command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("version: 1\nschemas: []\n", encoding="utf-8")
    monkeypatch.setenv("NIGHTSHIFT_WAREHOUSE__POLICY", str(policy))
    with pytest.raises(ConfigurationError, match="line 2, schemas: is empty"):
        command("sql", "check", "SELECT 1")
    monkeypatch.delenv("NIGHTSHIFT_WAREHOUSE__POLICY")
    monkeypatch.setenv("NIGHTSHIFT_WAREHOUSE__DSN", "postgresql://nobody:hush@127.0.0.1:1/none")
    with pytest.raises(ServiceUnavailable) as caught:
        command("sql", "check", "SELECT 1")
    assert "hush" not in str(caught.value)
