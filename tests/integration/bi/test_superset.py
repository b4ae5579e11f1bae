"""A real BI client: Apache Superset as the role of BI tools, its datasets over the views, its charts' numbers.

Superset's environment is made by scripts/superset_environment.sh; docs/evaluation.md has the command and its result.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from sqlalchemy.engine import make_url

from tests.integration.bi.conftest import BATCH, QUESTION, REGIONS
from tests.integration.bi.superset import Superset, query_context

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.usefixtures("published")]

TYPED = f"q_{QUESTION}"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# A view and the columns that make its rows' order certain.
VIEWS = {
    TYPED: ("run_date", "row_number"),
    "answer_latest": ("batch", "question_id"),
    "answer_history": ("batch", "question_id", "run_date"),
    "answer_cells": ("batch", "question_id", "run_date", "marker", "row_number", "column_number"),
    "validation_failures": ("batch", "question_id", "run_date", "check_id"),
    "run_summary": ("batch", "run_date"),
    "cost_by_day": ("run_date", "batch"),
}
# What the tables are beside the views: the role may read them all, and Superset lists them.
OTHERS = {"dim_date", "dim_question", "fact_answer", "fact_schema_change", "fact_model_call", "audit_event"}


@pytest.fixture(scope="module")
def superset(clients: Path) -> Iterator[Superset]:
    home = Path(tempfile.mkdtemp(prefix="nsbi"))
    opened = Superset(clients, home)
    try:
        opened.start()
        yield opened
    finally:
        opened.stop()
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="module")
def database(superset: Superset, store_dsn: str) -> int:
    """The store in Superset, as the role of BI tools; Superset itself would let statements that write through."""
    address = make_url(store_dsn).set(drivername="postgresql+psycopg2", username="nightshift_bi")
    body = {
        "database_name": "Nightshift",
        "sqlalchemy_uri": address.render_as_string(hide_password=False),
        "expose_in_sqllab": True,
        "allow_dml": True,
    }
    identity: int = superset.post("/api/v1/database/", body)["id"]
    return identity


def _dataset(superset: Superset, database: int, view: str) -> int:
    """The dataset over a view; made where it is missing."""
    listed = superset.get("/api/v1/dataset/", q=f"(filters:!((col:table_name,opr:eq,value:{view})))")
    for known in listed["result"]:
        identity: int = known["id"]
        return identity
    made: int = superset.post("/api/v1/dataset/", {"database": database, "schema": "reports", "table_name": view})["id"]
    return made


def _columns(connection: psycopg.Connection, view: str) -> list[tuple[str, str]]:
    """Names and comments of a view's columns."""
    return connection.execute(
        "SELECT attname, col_description(attrelid, attnum) FROM pg_attribute"
        " WHERE attrelid = to_regclass(%s) AND attnum > 0 ORDER BY attnum",
        (f"reports.{view}",),
    ).fetchall()


def _means(read: Any, stored: Any) -> bool:
    """Whether a cell of Superset's reply is the stored value: moments and days are milliseconds since 1970 in UTC."""
    match stored:
        case None | bool() | str():
            return read == stored and type(read) is type(stored)
        case int() | float() | Decimal():
            # As the number is printed: twelve digits and the cents are within a float's sixteen.
            return Decimal(repr(read)) == Decimal(str(stored))
        case datetime():
            # Superset's own division leaves a rest behind the microseconds.
            return round(Decimal(repr(read)), 3) == Decimal((stored - EPOCH) // timedelta(microseconds=1)) / 1000
        case date():
            return _means(read, datetime.combine(stored, time.min, UTC))
        case _:
            return bool(read == str(stored))


def _differences(
    read: Sequence[dict[str, Any]], names: Sequence[str], stored: Sequence[Sequence[Any]]
) -> list[tuple[str, Any, Any]]:
    assert len(read) == len(stored)
    return [
        (name, row[name], wanted)
        for row, wanted_row in zip(read, stored, strict=True)
        for name, wanted in zip(names, wanted_row, strict=True)
        if not _means(row[name], wanted)
    ]


def test_it_lists_the_views_and_tables(superset: Superset, database: int, bi_connection: psycopg.Connection) -> None:
    assert bi_connection
    listed = superset.get(f"/api/v1/database/{database}/tables/", q="(force:!t,schema_name:reports)")
    names = {item["value"] for item in listed["result"]}
    assert names >= VIEWS.keys() | OTHERS


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_read_value_for_value(
    view: str, superset: Superset, database: int, bi_connection: psycopg.Connection
) -> None:
    dataset = _dataset(superset, database, view)
    described = superset.get(f"/api/v1/dataset/{dataset}")["result"]["columns"]
    columns = _columns(bi_connection, view)
    assert {(item["column_name"], item["description"]) for item in described} == set(columns)
    names = [name for name, _ in columns]
    orders = [[name, True] for name in VIEWS[view]]
    read = superset.query(dataset, columns=names, metrics=[], orderby=orders)
    stored = bi_connection.execute(
        sql.SQL("SELECT * FROM {} ORDER BY {}").format(
            sql.Identifier(view), sql.SQL(", ").join(map(sql.Identifier, VIEWS[view]))
        )
    ).fetchall()
    assert stored
    assert _differences(read, names, stored) == []


def test_a_chart_shows_the_same_sums(superset: Superset, database: int, bi_connection: psycopg.Connection) -> None:
    dataset = _dataset(superset, database, TYPED)
    total = {"expressionType": "SQL", "sqlExpression": "sum(revenue)", "label": "total"}
    context = query_context(dataset, columns=["region"], metrics=[total], orderby=[["region", True]])
    chart = superset.post(
        "/api/v1/chart/",
        {
            "slice_name": "Revenue by region",
            "viz_type": "table",
            "datasource_id": dataset,
            "datasource_type": "table",
            "params": json.dumps({"viz_type": "table", "groupby": ["region"], "metrics": [total]}),
            "query_context": json.dumps(context),
        },
    )["id"]
    stored = bi_connection.execute(
        sql.SQL("SELECT region, sum(revenue) FROM {} GROUP BY 1 ORDER BY 1").format(sql.Identifier(TYPED))
    ).fetchall()
    assert {region for region, _ in stored} == set(REGIONS)
    assert _differences(superset.saved_query(chart), ["region", "total"], stored) == []


def test_a_filter_and_a_time_range_find_the_same_rows(
    superset: Superset, database: int, bi_connection: psycopg.Connection
) -> None:
    dataset = _dataset(superset, database, "answer_history")
    read = superset.query(
        dataset,
        columns=["question_id", "state"],
        metrics=[],
        granularity="run_date",
        time_range="2026-07-01 : 2026-07-02",
        filters=[{"col": "batch", "op": "==", "val": BATCH}],
        orderby=[["question_id", True]],
    )
    stored = bi_connection.execute(
        "SELECT question_id, state FROM answer_history WHERE batch = %s AND run_date = '2026-07-01' ORDER BY 1",
        (BATCH,),
    ).fetchall()
    assert len(stored) == 3
    assert _differences(read, ["question_id", "state"], stored) == []


@pytest.mark.parametrize(
    ("statement", "refusal"),
    [
        ("DELETE FROM reports.fact_answer", "read-only transaction"),
        ("SELECT * FROM nightshift.staged_answer", "permission denied for schema nightshift"),
    ],
)
def test_what_the_role_may_not(statement: str, refusal: str, superset: Superset, database: int) -> None:
    body = {"database_id": database, "sql": statement, "schema": "reports", "runAsync": False, "queryLimit": 10}
    reply = superset.api.post("/api/v1/sqllab/execute/", json=body)
    assert not reply.is_success
    assert refusal in reply.text
