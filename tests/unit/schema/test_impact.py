"""Whom a change touches."""

from __future__ import annotations

from datetime import date

import pytest

from rag_core.datamodel.drift import Change, ChangeKind, DriftRules, Lineage
from rag_core.datamodel.question import Expectation, Question
from rag_core.schema.change import ChangeMaker
from rag_core.schema.impact import expectation_lineage, find_affected
from rag_core.schema.lineage import selects_all
from rag_core.schema.reads import read_names
from rag_core.semantics.definitions import (
    Entity,
    Metric,
    QueryParameter,
    SemanticModel,
    TimeDimension,
    VerifiedQuery,
)
from rag_core.semantics.lineage import model_lineage

PLAN = Lineage(kind="plan", id="p1", question_id="q1", tables=("public.t",), columns=("public.t.amt",), owner="Finance")
STAR = Lineage(kind="plan", id="p2", question_id="q2", tables=("public.t",), reads_all=("public.t",))
METRIC = Lineage(kind="metric", id="total", tables=("public.t",), columns=("public.t.amt",))


def change(kind: ChangeKind, column: str | None = None) -> Change:
    return ChangeMaker(DriftRules()).make(kind, "public.t", column, before="x", after="y")


def touched(kind: ChangeKind, column: str | None = None) -> list[tuple[str, str]]:
    (found,) = find_affected([change(kind, column)], [PLAN, STAR, METRIC])
    return [(item.id, item.effect) for item in found.affected]


@pytest.mark.parametrize("kind", ["column_removed", "column_renamed"])
def test_removed_and_renamed_columns_break_who_names_them(kind: ChangeKind) -> None:
    assert touched(kind, "amt") == [("total", "breaks"), ("p1", "breaks"), ("p2", "may_change_answer")]
    assert touched(kind, "other") == [("p2", "may_change_answer")]


@pytest.mark.parametrize("kind", ["type_changed", "type_narrowed", "enum_value_added", "became_nullable"])
def test_silent_changes_of_a_column(kind: ChangeKind) -> None:
    assert touched(kind, "amt") == [("total", "may_change_answer"), ("p1", "may_change_answer")]
    assert touched(kind, "other") == []


def test_changes_of_a_table() -> None:
    assert touched("table_removed") == [("total", "breaks"), ("p1", "breaks"), ("p2", "breaks")]
    assert touched("primary_key_changed") == [
        ("total", "may_change_answer"),
        ("p1", "may_change_answer"),
        ("p2", "may_change_answer"),
    ]


@pytest.mark.parametrize("kind", ["type_widened", "comment_changed", "default_changed", "table_added"])
def test_harmless_changes_touch_nobody(kind: ChangeKind) -> None:
    assert touched(kind, "amt") == []


def test_star_is_touched_by_order_only() -> None:
    assert touched("column_order_changed") == [("p2", "may_change_answer")]
    assert touched("column_added", "new") == [("p2", "may_change_answer")]


def test_ids_follow_from_the_kind() -> None:
    (found,) = find_affected([change("column_removed", "amt")], [PLAN, METRIC])
    metric, plan = found.affected
    assert (metric.metric, metric.plan_id, metric.question_id) == ("total", None, None)
    assert (plan.metric, plan.plan_id, plan.question_id, plan.owner) == (None, "p1", "q1", "Finance")


def test_expectations_rest_on_the_plan_of_their_question() -> None:
    question = Question(
        question_id="q1", text="How much?", expectations=(Expectation(kind="bounds", column="amt", min=0),)
    )
    other = Question(question_id="q9", text="How many?", expectations=(Expectation(kind="not_empty"),))
    (entry,) = expectation_lineage([question, other], [PLAN, METRIC])
    assert (entry.kind, entry.id, entry.columns, entry.owner) == (
        "expectation",
        "q1:bounds:amt",
        PLAN.columns,
        "Finance",
    )


def test_lineage_of_a_semantic_model() -> None:
    model = SemanticModel(
        entities={
            "lines": Entity(table="public.lines", primary_key=("id",), grain="a line"),
            "targets": Entity(table='public."Target"', primary_key=('"Id"',), grain="a target"),
        },
        time_dimensions={"day": TimeDimension(label="Day", entity="lines", column="sold_on")},
        dimensions={},
        metrics={
            "revenue": Metric(
                label="Revenue", entity="lines", expression="sum(price * units)", filters=("NOT void",), time="day"
            ),
            "goal": Metric(label="Goal", entity="targets", expression='sum("Amount")', time="day"),
            "attainment": Metric(label="Attainment", type="ratio", numerator="revenue", denominator="goal"),
        },
        verified_queries={
            "top": VerifiedQuery(
                patterns=("top lines",),
                parameters={"n": QueryParameter(type="integer", default=3)},
                sql="SELECT l.id, l.price::int FROM public.lines AS l WHERE l.units > :n",
                description="d",
                approved_by="ada",
                approved_on=date(2026, 1, 1),
            )
        },
    )
    found = {entry.id: entry for entry in model_lineage(model, owner="Data")}
    assert set(found["revenue"].columns) == {f"public.lines.{name}" for name in ("price", "units", "void", "sold_on")}
    assert set(found["attainment"].tables) == {"public.lines", "public.Target"}
    assert "public.Target.Amount" in found["attainment"].columns
    assert set(found["top"].columns) == {"public.lines.id", "public.lines.price", "public.lines.units"}
    assert (found["top"].owner, found["goal"].owner) == ("ada", "Data")


def test_names_that_a_statement_reads() -> None:
    reads = read_names(
        'WITH c AS (SELECT a, b FROM s.t) SELECT c.a, "U"."X" FROM c JOIN public."U" ON c.b = "U".y', "postgres"
    )
    assert reads.tables == ("s.t", "public.U")
    assert set(reads.columns) == {"s.t.a", "s.t.b", "public.U.X", "public.U.y"}
    with pytest.raises(ValueError, match="cannot be read"):
        read_names("SELECT FROM FROM", "postgres")


@pytest.mark.parametrize(
    ("sql", "star"),
    [
        ("SELECT * FROM t", True),
        ("SELECT t.* FROM t", True),
        ("SELECT a FROM (SELECT * FROM t) AS x", True),
        ("SELECT count(*), a * b FROM t", False),
        ("SELECT a FROM t", False),
        ("SELECT ((* FROM", True),
    ],
)
def test_statements_that_read_all_columns(sql: str, star: bool) -> None:
    assert selects_all(sql) is star
