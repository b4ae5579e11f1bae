"""The copy of the result tables in warehouses of every kind: the same values, each run once, all of it or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlglot
from sqlglot import exp

from rag_core.batch.runner import BatchRunner
from rag_core.connectors.base import TableWriter
from rag_core.connectors.embedded import EmbeddedPostgres
from rag_core.connectors.store import Store
from rag_core.connectors.table_writers import open_table_writer
from rag_core.datamodel.evidence import ColumnMeaning
from rag_core.datamodel.question import Batch, Expectation, Question
from rag_core.errors import ConfigurationError, ServiceUnavailable
from rag_core.reports.mirror import MAX_STATEMENT_ROWS, ReportMirror, insert_statements, literal
from tests.integration.batch.scripted import (
    RUN_DATE,
    ScriptedOrchestrator,
    passage,
    result_evidence,
    scripted_answer,
)

pytestmark = pytest.mark.integration

MakeRunner = Callable[[ScriptedOrchestrator], BatchRunner]
SCHEMA = "nightshift_reports"
# What breaks statements that are put together from texts.
EVIL = "a'b\\c\nd\te\"f`g%s%%${x}; DROP TABLE x;-- /* Köln 中文 🙂 \\' '' $$ \x07"
DIALECTS = ("postgres", "redshift", "snowflake", "bigquery", "duckdb")
Read = Callable[[str], list[tuple[Any, ...]]]


class World:
    """A warehouse of one kind, how to write to it, and a look at it that is not ours."""

    def __init__(self, writer: TableWriter, read: Read) -> None:
        self.writer = writer
        self.read = read


@pytest.fixture(params=["postgres", "redshift", "duckdb", "snowflake", "bigquery"])
def world(request: pytest.FixtureRequest, pg_server: EmbeddedPostgres, tmp_path: Path) -> Iterator[World]:
    kind = request.param
    closers: list[Callable[[], None]] = []
    if kind in ("postgres", "redshift"):
        database = f"mirror_{kind}"
        pg_server.ensure_database(database)
        dsn = pg_server.dsn(database)
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")

        def read(text: str) -> list[tuple[Any, ...]]:
            with psycopg.connect(dsn) as connection:
                return connection.execute(text.encode()).fetchall()

        dsn_of_writer = dsn.replace("postgresql://", "redshift://") if kind == "redshift" else dsn
        if kind == "redshift":
            # In Redshift a backslash escapes, as it did in the PostgreSQL that it comes from.
            with psycopg.connect(dsn, autocommit=True) as connection:
                connection.execute(f"ALTER DATABASE {database} SET standard_conforming_strings = off".encode())
                connection.execute(f"ALTER DATABASE {database} SET backslash_quote = on".encode())
                connection.execute(f"ALTER DATABASE {database} SET escape_string_warning = off".encode())
    elif kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        path = tmp_path / "mirror.duckdb"
        dsn_of_writer = f"duckdb:///{path}"

        def read(text: str) -> list[tuple[Any, ...]]:
            with duckdb.connect(str(path)) as connection:
                connection.execute("SET TimeZone = 'UTC'")
                return list(connection.execute(text).fetchall())

    else:
        if kind == "snowflake":
            pytest.importorskip("snowflake.connector")
            from tests.contract.snowflake_stand_in import SnowflakeStandIn

            stand_in: Any = SnowflakeStandIn()
        else:
            pytest.importorskip("google.cloud.bigquery")
            from tests.contract.bigquery_stand_in import BigQueryStandIn

            stand_in = BigQueryStandIn()
        dsn_of_writer = stand_in.dsn
        closers.append(stand_in.close)

        def read(text: str) -> list[tuple[Any, ...]]:
            cursor = stand_in.database.cursor()
            cursor.execute("SET TimeZone = 'UTC'")
            return list(cursor.execute(text).fetchall())

    writer = open_table_writer(dsn_of_writer, setting="NIGHTSHIFT_REPORTS__MIRROR_DSN")
    yield World(writer, read)
    writer.close()
    for close in closers:
        close()


def _run(make_runner: MakeRunner, name: str, text: str, *, bound: int = 1_000_000_000) -> None:
    evidence = result_evidence(
        {
            "region": ("text", ["Nordics", EVIL]),
            "revenue": ("numeric", [Decimal("12345678901234567.89"), None]),
            "day": ("date", [date(2026, 6, 30), None]),
            "at": ("timestamptz", [datetime(2026, 6, 30, 23, 30, tzinfo=timezone(timedelta(hours=2))), None]),
            "good": ("boolean", [True, False]),
        },
        meanings=(ColumnMeaning(name="revenue", label="Revenue", unit="EUR", decimals=2, role="metric"),),
    )
    answer = scripted_answer(evidence, documents=[passage(f"{text} quoted.")], text=f"{text} [S1] [D1]")
    questions = (
        Question(question_id="one", text="What was one?", expectations=(Expectation(kind="row_count", min=1),)),
        Question(question_id="two", text="What was two?", expectations=(Expectation(kind="row_count", max=bound),)),
    )
    runner = make_runner(ScriptedOrchestrator({"one": answer, "two": answer}))
    runner.run(Batch(batch=name, title=EVIL, owner="finance", questions=questions), RUN_DATE)


def _count(world: World, table: str) -> int:
    return int(world.read(f"SELECT count(*) FROM {SCHEMA}.{table}")[0][0])


def test_every_value_arrives_as_it_is_in_the_store(
    world: World, make_runner: MakeRunner, store: Store, connection: psycopg.Connection
) -> None:
    _run(make_runner, "copied", EVIL, bound=1)
    copied = ReportMirror(store, world.writer, SCHEMA).copy("copied", RUN_DATE)
    assert copied.rows["fact_answer"] == 2
    for table, columns in (
        ("dim_batch", "title, owner"),
        ("dim_run", "run_id::text, questions, published, quarantined"),
        ("fact_answer", "question_id, state, answer, explanation, supported"),
        ("fact_answer_cell", "question_id, row_number, column_name, value_text"),
        ("fact_answer_cell", "column_number, value_number, value_date, value_timestamp, value_boolean"),
        ("fact_evidence", "question_id, marker, kind, excerpt"),
        ("fact_validation", "question_id, check_id, verdict"),
    ):
        plain = columns.replace("::text", "")
        mine = connection.execute(f"SELECT {columns} FROM reports.{table} WHERE batch = 'copied'".encode()).fetchall()
        found = world.read(f"SELECT {plain} FROM {SCHEMA}.{table}")
        assert sorted(map(repr, _plain(found))) == sorted(map(repr, _plain(mine))), table
        assert mine, table
        assert _count(world, f"staging_{table}") == 0
    latest = world.read(f"SELECT question_id, answer, stale FROM {SCHEMA}.answer_latest")
    assert latest == [("one", f"{EVIL} [S1] [D1]", False)]
    assert len(world.read(f"SELECT * FROM {SCHEMA}.validation_failures")) == 1


def _plain(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Numbers by value and moments in UTC, whatever type a driver gives them."""

    def cell(value: Any) -> Any:
        if isinstance(value, Decimal):
            return value.normalize()
        return value.astimezone(UTC) if isinstance(value, datetime) else value

    return [tuple(cell(value) for value in row) for row in rows]


def test_a_copy_can_be_repeated_and_follows_the_store(world: World, make_runner: MakeRunner, store: Store) -> None:
    mirror = ReportMirror(store, world.writer, SCHEMA)
    _run(make_runner, "repeated", "before")
    mirror.copy("repeated", RUN_DATE)
    counts = {table: _count(world, table) for table in ("dim_question", "fact_answer", "fact_answer_cell", "dim_run")}
    _run(make_runner, "repeated", "after")
    ReportMirror(store, world.writer, SCHEMA).copy("repeated", RUN_DATE)
    mirror.copy("repeated", RUN_DATE)
    assert counts == {table: _count(world, table) for table in counts}
    assert {row[0] for row in world.read(f"SELECT answer FROM {SCHEMA}.fact_answer")} == {"after [S1] [D1]"}


def test_a_copy_that_fails_leaves_what_was_there(world: World, make_runner: MakeRunner, store: Store) -> None:
    mirror = ReportMirror(store, world.writer, SCHEMA)
    _run(make_runner, "torn", "before")
    mirror.copy("torn", RUN_DATE)
    _run(make_runner, "torn", "after")

    class Torn:
        """Breaks in the middle of the transaction."""

        dialect = world.writer.dialect

        def run(self, statements: list[str], *, atomic: bool = False) -> None:
            texts = list(statements)
            world.writer.run(
                [*texts[:9], "SELECT nothing_of_that_name", *texts[9:]] if atomic else texts, atomic=atomic
            )

        def close(self) -> None:
            """The writer is closed by its own fixture."""

    with pytest.raises(ServiceUnavailable, match="cannot be written to the warehouse"):
        ReportMirror(store, Torn(), SCHEMA).copy("torn", RUN_DATE)
    assert {row[0] for row in world.read(f"SELECT answer FROM {SCHEMA}.fact_answer")} == {"before [S1] [D1]"}
    mirror.copy("torn", RUN_DATE)
    assert {row[0] for row in world.read(f"SELECT answer FROM {SCHEMA}.fact_answer")} == {"after [S1] [D1]"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_text_is_one_literal_whatever_it_holds(dialect: str) -> None:
    text = literal(EVIL, "text").sql(dialect)
    parsed = sqlglot.parse_one(f"SELECT {text}", read=dialect)
    [found] = parsed.find_all(exp.Literal)
    assert found.this == EVIL
    if dialect in ("snowflake", "bigquery", "redshift"):
        # A backslash escapes there: each must be doubled, and each quote be escaped.
        assert "\\\\c" in text
        assert "\n" not in text


@pytest.mark.parametrize(
    ("value", "kind", "wanted"),
    [
        (None, "text", "NULL"),
        (-5, "integer", "-5"),
        (True, "boolean", "TRUE"),
        (Decimal("1E+30"), "numeric", "NULL"),
        (Decimal("NaN"), "numeric", "NULL"),
        (Decimal("0.1234567891"), "numeric", "CAST('0.123456789' AS DECIMAL(38, 9))"),
        (float("inf"), "double precision", "CAST('inf' AS DOUBLE)"),
    ],
)
def test_values_are_literals_of_their_types(value: Any, kind: str, wanted: str) -> None:
    assert literal(value, kind).sql("duckdb") == wanted


def test_many_rows_become_several_statements() -> None:
    rows = ([number] for number in range(MAX_STATEMENT_ROWS + 1))
    table = exp.to_table("s.t")
    assert len(list(insert_statements(table, ["n"], rows, ["integer"], "snowflake"))) == 2
    long = (["x" * 300_000] for _ in range(3))
    assert len(list(insert_statements(table, ["n"], long, ["text"], "bigquery"))) == 3


def test_a_text_that_redshift_cannot_hold_is_cut_between_characters() -> None:
    [text] = insert_statements(exp.to_table("s.t"), ["t"], iter([["ü" * 70_000]]), ["text"], "redshift")
    [found] = sqlglot.parse_one(text, read="redshift").find_all(exp.Literal)
    assert len(found.this.encode()) <= 65_535
    assert found.this.endswith("ü…")


@pytest.mark.parametrize(
    ("dsn", "message"),
    [("mysql://h/d", "names the database"), ("bigquery://", "must name a project"), ("nonsense", "MIRROR_DSN")],
)
def test_a_url_that_cannot_be_written_to_is_refused(dsn: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        open_table_writer(dsn, setting="NIGHTSHIFT_REPORTS__MIRROR_DSN")


def test_a_warehouse_that_is_gone_is_one_line() -> None:
    with pytest.raises(ServiceUnavailable, match="cannot be written to the warehouse"):
        open_table_writer("postgresql://x@127.0.0.1:1/none", setting="NIGHTSHIFT_REPORTS__MIRROR_DSN")


def test_only_a_run_that_was_published_is_copied(make_runner: MakeRunner, store: Store, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    evidence = result_evidence({"n": ("integer", [1])})
    runner = make_runner(ScriptedOrchestrator({"one": scripted_answer(evidence, text="One. [S1]")}))
    batch = Batch(
        batch="unpublished", title="T", owner="o", questions=(Question(question_id="one", text="What is it?"),)
    )
    writer = open_table_writer(f"duckdb:///{tmp_path / 'some.duckdb'}", setting="NIGHTSHIFT_REPORTS__MIRROR_DSN")
    mirror = ReportMirror(store, writer, SCHEMA)
    assert mirror.copy_outcome(runner.run(batch, RUN_DATE, publish=False)) is None
    with pytest.raises(ConfigurationError, match="nothing is published for the batch unpublished"):
        mirror.copy("unpublished", RUN_DATE)
    published = runner.run(batch, RUN_DATE)
    copied = mirror.copy_outcome(published)
    assert copied is not None
    assert copied.rows["fact_answer"] == 1
    assert copied.rows["dim_date"] == 1
    writer.close()
