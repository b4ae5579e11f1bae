"""What columns hold decides where names alone do not, with hashes only and through the guard."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from rag_core.batch.watch import watch_schema
from rag_core.datamodel.drift import Change, DriftRules, Lineage
from rag_core.policy.rules import ColumnRules, Policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.schema.drift import detect_drift
from rag_core.schema.profiles import Profiler, profile_of, read_columns
from rag_core.semantics.definitions import Entity, Metric, SemanticModel, TimeDimension
from tests.integration.schema.conftest import Playground

pytestmark = pytest.mark.integration

MODEL = SemanticModel(
    version=1,
    dialect="postgres",
    entities={"margins": Entity(table="public.margins", primary_key=("id",), grain="one row a month")},
    dimensions={},
    time_dimensions={"month": TimeDimension(label="Month", entity="margins", column="month")},
    metrics={"freight": Metric(label="Freight", entity="margins", expression="sum(frt_ttl)", time="month")},
)
LINEAGE = (Lineage(kind="metric", id="freight", tables=("public.margins",), columns=("public.margins.frt_ttl",)),)


def _profiler(playground: Playground, **columns: Any) -> Profiler:
    """A profiler over the schema as it is now."""
    policy = Policy(version=1, schemas=("public",), columns=ColumnRules(**columns))
    return Profiler(playground.warehouse, SqlGuard(policy, playground.warehouse.snapshot()).check)


def _watch(playground: Playground, **columns: Any) -> tuple[Change, ...]:
    watched = watch_schema(
        playground.warehouse,
        playground.store,
        rules=DriftRules(),
        model=MODEL,
        batches=(),
        profiler=_profiler(playground, **columns),
    )
    return watched.warehouse.changes


def _build(playground: Playground, column: str, values: str) -> None:
    """The table, built anew so that nothing proves what a column was."""
    playground.run(f"""
        DROP TABLE IF EXISTS margins;
        CREATE TABLE margins (id int, region text, {column} numeric(12, 2), tax numeric(12, 2));
        INSERT INTO margins SELECT g, 'r' || g % 5, {values}, g * 7.5 FROM generate_series(1, 500) AS g;
    """)


def test_equal_values_lift_a_doubtful_name_and_others_lower_it(playground: Playground) -> None:
    scores = {}
    for name, values in (("same", "g * 3.25"), ("other", "100000 + g")):
        playground.run("DROP TABLE IF EXISTS margins")
        with playground.store.connection() as connection:
            connection.execute(
                "TRUNCATE nightshift.schema_baseline, nightshift.drift_event, nightshift.schema_snapshot,"
                " nightshift.drift_run, nightshift.column_profile CASCADE"
            )
        _build(playground, "frt_ttl", "g * 3.25")
        assert _watch(playground) == ()
        _build(playground, "freight_ttl", values)
        (change,) = [item for item in _watch(playground) if item.kind in ("column_removed", "column_renamed")]
        scores[name] = max((item.score for item in change.candidates), default=0.0)
    assert scores["same"] > scores["other"]


def test_values_are_kept_as_hashes_only(playground: Playground) -> None:
    playground.run("CREATE TABLE margins (id int, frt_ttl text); INSERT INTO margins VALUES (1, 'secret-value')")
    _watch(playground)
    ((text,),) = playground.rows("SELECT profile::text FROM nightshift.column_profile")
    assert "secret-value" not in text
    assert '"null_share": 0.0' in text


def test_hidden_column_is_not_profiled(playground: Playground) -> None:
    _build(playground, "frt_ttl", "g")
    _watch(playground, exclude=("public.margins.frt_ttl",))
    assert playground.rows("SELECT column_name FROM nightshift.column_profile") == []


def test_profiles_are_renewed_after_a_week_only(playground: Playground) -> None:
    _build(playground, "frt_ttl", "g")
    _watch(playground)
    first = playground.rows("SELECT taken_at FROM nightshift.column_profile")
    _watch(playground)
    assert playground.rows("SELECT taken_at FROM nightshift.column_profile") == first
    with playground.store.connection() as connection:
        connection.execute("UPDATE nightshift.column_profile SET taken_at = taken_at - interval '8 days'")
    _watch(playground)
    assert playground.rows("SELECT taken_at FROM nightshift.column_profile") > first


def test_decisions_see_the_same_rename_as_the_check(playground: Playground) -> None:
    """The profiles that decided are stored, so that a later comparison without the warehouse comes to the same."""
    _build(playground, "frt_ttl", "g * 3.25")
    _watch(playground)
    _build(playground, "freight_ttl", "g * 3.25")
    first = _watch(playground)
    report = detect_drift(playground.warehouse, playground.store, rules=DriftRules(), lineage=LINEAGE)
    assert report.status == "unchanged"
    assert report.open_events == sum(item.severity in ("breaking", "risky") for item in first)


def test_profile_of_values() -> None:
    profile = profile_of([Decimal("1.50"), Decimal("1.5"), None, Decimal("2")])
    assert (profile.null_share, profile.distinct_share, len(profile.sample)) == (0.25, 0.6667, 2)
    assert profile_of([None]).sample == frozenset()
    assert profile_of(range(1000)).sample == profile_of(range(999, -1, -1)).sample


def test_columns_that_questions_read() -> None:
    entries = [*LINEAGE, Lineage(kind="plan", id="p", columns=("public.margins.id", "ops.services.tier"))]
    assert read_columns(entries) == {"ops.services": ["tier"], "public.margins": ["frt_ttl", "id"]}
