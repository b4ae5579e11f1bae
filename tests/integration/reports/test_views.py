"""What BI tools see: commented views, typed views of questions, nothing of the working tables."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, get_args

import psycopg
import pytest
from psycopg.types.json import Jsonb

from rag_core.batch.runner import BatchRunner
from rag_core.datamodel.evidence import ColumnMeaning
from rag_core.datamodel.plan import Strategy
from rag_core.datamodel.question import Question
from tests.integration.batch.scripted import (
    RUN_DATE,
    ScriptedOrchestrator,
    make_batch,
    passage,
    result_evidence,
    scripted_answer,
)

pytestmark = pytest.mark.integration

STAR = {
    *("dim_question", "dim_batch", "dim_run", "dim_check", "dim_date"),
    *("fact_answer", "fact_answer_cell", "fact_evidence", "fact_validation", "fact_sql_execution", "fact_model_call"),
    *("fact_schema_change", "audit_event"),
}
VIEWS = {"answer_latest", "answer_history", "answer_cells", "validation_failures", "run_summary", "cost_by_day"}

MakeRunner = Callable[[ScriptedOrchestrator], BatchRunner]
Columns = dict[str, tuple[str, list[Any]]]


def _run(make_runner: MakeRunner, batch: str, day: date, columns: Columns, question_id: str = "revenue") -> None:
    evidence = result_evidence(
        columns, meanings=[ColumnMeaning(name="revenue", label="Revenue", unit="EUR", role="metric")]
    )
    runner = make_runner(ScriptedOrchestrator({question_id: scripted_answer(evidence)}))
    runner.run(make_batch(batch, [Question(question_id=question_id, text="What was revenue?")]), day)


def _describe(connection: psycopg.Connection, view: str) -> list[tuple[str, str]]:
    return connection.execute(
        "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute"
        " WHERE attrelid = to_regclass(%s) AND attnum > 0 ORDER BY attnum",
        (f"reports.{view}",),
    ).fetchall()


def test_every_column_of_every_view_has_a_comment(make_runner: MakeRunner, connection: psycopg.Connection) -> None:
    _run(make_runner, "commented", RUN_DATE, {"revenue": ("numeric", [Decimal(5)])}, "commented")
    bare = connection.execute(
        "SELECT c.relname, a.attname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid"
        " WHERE c.relnamespace = 'reports'::regnamespace AND c.relkind = 'v' AND a.attnum > 0"
        " AND col_description(c.oid, a.attnum) IS NULL"
    ).fetchall()
    assert bare == []
    views = connection.execute(
        "SELECT count(*) FROM pg_class WHERE relnamespace = 'reports'::regnamespace AND relkind = 'v'"
    ).fetchone()
    assert views is not None
    assert views[0] >= 10
    assert connection.execute(
        "SELECT col_description('reports.q_commented'::regclass, 5), obj_description('reports.q_commented'::regclass)"
    ).fetchone() == ("Revenue in EUR", "What was revenue?")


def test_the_star_and_the_views_stand_under_their_names(
    connection: psycopg.Connection, bi_connection: psycopg.Connection
) -> None:
    assert connection
    found = bi_connection.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'reports'::regnamespace AND relkind IN ('r', 'p', 'v')"
        " AND has_table_privilege(oid, 'SELECT')"
    ).fetchall()
    assert {name for (name,) in found} >= STAR | VIEWS


def test_the_comment_of_a_strategy_names_every_strategy(connection: psycopg.Connection) -> None:
    comments = connection.execute(
        "SELECT c.relname, col_description(c.oid, a.attnum) FROM pg_class AS c JOIN pg_attribute AS a"
        " ON a.attrelid = c.oid WHERE c.relnamespace = 'reports'::regnamespace AND c.relkind = 'v'"
        " AND a.attname = 'strategy'"
    ).fetchall()
    assert len(comments) >= 3
    for view, comment in comments:
        assert [name for name in get_args(Strategy) if name not in comment] == [], view


def test_a_schema_change_is_a_fact_with_its_day(
    connection: psycopg.Connection, bi_connection: psycopg.Connection
) -> None:
    # Half past eleven at night in UTC, though it is the next day where the session may be.
    found = connection.execute(
        "INSERT INTO nightshift.schema_snapshot (warehouse, status, taken_by, taken_at, last_seen_at)"
        " VALUES ('postgres:star', 'complete', 'test', '2026-06-30 23:30:00+00', '2026-07-01 03:00:00+00')"
        " RETURNING snapshot_id, warehouse, taken_at, last_seen_at"
    ).fetchone()
    assert found is not None
    change = {"before": "numeric", "after": None, "confidence": 1.0, "affected": [{"question_id": "revenue"}]}
    connection.execute(
        "INSERT INTO nightshift.drift_event (snapshot_id, warehouse, opened_at, last_seen_at, change_id, kind, object,"
        " table_name, severity, change, state, active) VALUES (%s, %s, %s, %s, 'star', 'column_removed',"
        " 'public.orders.total', 'public.orders', 'breaking', %s, 'open', true)",
        (found[0], found[1], found[2], found[3], Jsonb(change)),
    )
    bi_connection.execute("SET timezone = 'Asia/Tokyo'")
    rows = bi_connection.execute(
        "SELECT opened_on, kind, object, before_value, severity, confidence, state, affected_count, affected_questions"
        " FROM fact_schema_change WHERE warehouse = 'postgres:star'"
    ).fetchall()
    assert rows == [
        (date(2026, 6, 30), "column_removed", "public.orders.total", "numeric", "breaking", 1.0, "open", 1, "revenue")
    ]


def test_the_bi_role_sees_the_views_and_nothing_of_the_working_tables(
    make_runner: MakeRunner, connection: psycopg.Connection, bi_connection: psycopg.Connection
) -> None:
    _run(make_runner, "bi", RUN_DATE, {"revenue": ("numeric", [Decimal(5)])}, "bi_revenue")
    views = connection.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'reports'::regnamespace AND relkind = 'v' ORDER BY 1"
    ).fetchall()
    assert ("q_bi_revenue",) in views
    for (view,) in views:
        bi_connection.execute(f'SELECT * FROM reports."{view}" LIMIT 1').fetchall()
    for table in ("batch_run", "staged_answer", "document", "plan"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            bi_connection.execute(f"SELECT * FROM nightshift.{table}")
    for change in ("DELETE FROM reports.fact_answer", "CREATE TABLE reports.x ()", "DROP VIEW reports.answer_latest"):
        with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction)):
            bi_connection.execute(change)
    assert bi_connection.execute("SHOW statement_timeout").fetchone() == ("1min",)


def test_a_question_has_a_view_with_real_columns_over_time(
    make_runner: MakeRunner, bi_connection: psycopg.Connection
) -> None:
    moment = datetime(2026, 6, 30, 12, tzinfo=UTC)
    _run(
        make_runner,
        "typed",
        date(2026, 6, 30),
        {
            "Region Name": ("text", ["DACH", "Iberia"]),
            "revenue": ("numeric(12,2)", [Decimal("5.10"), None]),
            "seen": ("timestamp with time zone", [moment, moment]),
            "day": ("date", [date(2026, 6, 1), None]),
            "open": ("boolean", [True, False]),
            "run_date": ("text", ["x", "y"]),
        },
        "typed",
    )
    assert _describe(bi_connection, "q_typed") == [
        ("run_date", "date"),
        ("question_version", "integer"),
        ("row_number", "integer"),
        ("answer_text", "text"),
        ("region_name", "text"),
        ("revenue", "numeric"),
        ("seen", "timestamp with time zone"),
        ("day", "date"),
        ("open", "boolean"),
        ("run_date_2", "text"),
    ]
    rows = bi_connection.execute(
        "SELECT row_number, region_name, revenue, seen, day, open, run_date_2 FROM q_typed ORDER BY 1"
    ).fetchall()
    assert rows == [
        (1, "DACH", Decimal("5.10"), moment, date(2026, 6, 1), True, "x"),
        (2, "Iberia", None, moment, None, False, "y"),
    ]


def test_columns_are_appended_and_grants_are_kept(
    make_runner: MakeRunner, connection: psycopg.Connection, bi_connection: psycopg.Connection
) -> None:
    _run(make_runner, "grown", date(2026, 6, 28), {"n": ("bigint", [1]), "revenue": ("numeric", [Decimal(5)])}, "grown")
    connection.execute("DO $$ BEGIN CREATE ROLE some_analyst; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    connection.execute("GRANT SELECT ON reports.q_grown TO some_analyst")
    _run(make_runner, "grown", date(2026, 6, 29), {"n": ("text", ["one"]), "extra": ("date", [RUN_DATE])}, "grown")
    assert [name for name, _ in _describe(bi_connection, "q_grown")][4:] == ["n", "revenue", "n_text", "extra"]
    assert bi_connection.execute("SELECT n, revenue, n_text, extra FROM q_grown ORDER BY run_date").fetchall() == [
        (Decimal(1), Decimal(5), "1", None),
        (None, None, "one", RUN_DATE),
    ]
    assert connection.execute("SELECT has_table_privilege('some_analyst', 'reports.q_grown', 'SELECT')").fetchone() == (
        True,
    )


def test_the_same_question_id_in_two_batches_has_two_views(
    make_runner: MakeRunner, bi_connection: psycopg.Connection
) -> None:
    _run(make_runner, "first", RUN_DATE, {"revenue": ("numeric", [Decimal(1)])}, "twin")
    _run(make_runner, "second", RUN_DATE, {"revenue": ("numeric", [Decimal(2)])}, "twin")
    assert bi_connection.execute("SELECT revenue FROM q_twin").fetchall() == [(Decimal(1),)]
    assert bi_connection.execute("SELECT revenue FROM q_second_twin").fetchall() == [(Decimal(2),)]


def test_a_question_about_documents_has_a_row_a_run(make_runner: MakeRunner, bi_connection: psycopg.Connection) -> None:
    answer = scripted_answer(documents=[passage()], text="A strike. [D1]")
    runner = make_runner(ScriptedOrchestrator({"cause": answer}))
    runner.run(make_batch("documents", [Question(question_id="cause", text="Why?")]), RUN_DATE)
    assert bi_connection.execute("SELECT run_date, row_number, answer_text FROM q_cause").fetchall() == [
        (RUN_DATE, None, "A strike. [D1]")
    ]
    assert bi_connection.execute(
        "SELECT kind, title, excerpt FROM answer_evidence WHERE batch = 'documents'"
    ).fetchall() == [("document", "Note", "The port strike forced air freight.")]


def test_cost_and_dates_are_there(make_runner: MakeRunner, bi_connection: psycopg.Connection) -> None:
    _run(make_runner, "cost", RUN_DATE, {"revenue": ("numeric", [Decimal(1)])}, "cost_revenue")
    assert bi_connection.execute(
        "SELECT run_date, runs, questions FROM cost_by_day WHERE batch = 'cost'"
    ).fetchall() == [(RUN_DATE, 1, 1)]
    assert bi_connection.execute(
        "SELECT year, quarter, month_name, weekday_name, is_weekend FROM dim_date WHERE day = %s", (RUN_DATE,)
    ).fetchone() == (2026, 3, "July", "Wednesday", False)


def test_old_months_are_dropped_as_partitions(make_runner: MakeRunner, connection: psycopg.Connection) -> None:
    for day in (date(2019, 11, 5), date(2019, 12, 5)):
        _run(make_runner, "old", day, {"revenue": ("numeric", [Decimal(1)])}, "old_revenue")
    dropped = connection.execute("SELECT nightshift.drop_report_partitions('2019-12-20')").fetchall()
    assert {name for (name,) in dropped} == {
        f"{fact}_2019_11"
        for fact in ("fact_answer", "fact_answer_cell", "fact_evidence", "fact_sql_execution", "fact_validation")
    }
    assert connection.execute("SELECT run_date FROM reports.answer_history WHERE batch = 'old'").fetchall() == [
        (date(2019, 12, 5),)
    ]
    assert connection.execute("SELECT run_date FROM reports.dim_run WHERE batch = 'old'").fetchall() == [
        (date(2019, 12, 5),)
    ]


def test_pandas_reads_the_same_numbers_as_a_bi_tool_does(make_runner: MakeRunner, store_dsn: str) -> None:
    import pandas as pd
    from sqlalchemy import create_engine

    amounts = [Decimal("17578488.11"), Decimal("0.10")]
    _run(make_runner, "pandas", RUN_DATE, {"revenue": ("numeric(14,2)", amounts)}, "pandas_revenue")
    url = store_dsn.replace("postgresql://postgres@", "postgresql+psycopg://nightshift_bi@")
    engine = create_engine(url)
    try:
        frame = pd.read_sql("SELECT * FROM q_pandas_revenue ORDER BY row_number", engine, coerce_float=False)
    finally:
        engine.dispose()
    assert list(frame["revenue"]) == amounts
    assert list(frame["run_date"]) == [RUN_DATE, RUN_DATE]
