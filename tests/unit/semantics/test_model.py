"""The model file: what loads, and one clear line with the place for what does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_core.errors import ConfigurationError
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.model import load_semantic_model
from rag_core.semantics.paths import SemanticError, find_path

GOOD = """\
version: 1
entities:
  a: {table: public.a, primary_key: [id], grain: one row an a}
  b: {table: public.b, primary_key: [id], grain: one row a b}
joins:
  - {from: a, to: b, columns: {b_id: id}}
time_dimensions:
  day: {label: Day, entity: a, column: day}
dimensions:
  colour: {label: Colour, entity: b, expression: colour}
metrics:
  count_a:
    label: Count
    entity: a
    expression: count(*)
    time: day
verified_queries:
  one:
    patterns: ["how many in {period}"]
    parameters: {period: {type: period}}
    sql: SELECT count(*) FROM a WHERE day >= :period_start
    description: Count
    approved_by: Somebody
    approved_on: 2026-01-01
"""


def load(tmp_path: Path, text: str) -> SemanticModel:
    path = tmp_path / "semantic_model.yaml"
    path.write_text(text, encoding="utf-8")
    return load_semantic_model(path)


def test_a_good_model_loads_and_is_frozen(tmp_path: Path) -> None:
    model = load(tmp_path, GOOD)
    assert model.metrics["count_a"].expression == "count(*)"
    with pytest.raises(ValueError, match="frozen"):
        model.version = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("before", "after", "line", "message"),
    [
        ("    time: day\n", "    time: day\n    colour: red\n", 17, "metrics.count_a.colour: Extra inputs"),
        ("    time: day\n", "    time: night\n", 16, "metrics.count_a.time: there is no time dimension called 'night'"),
        ("    time: day\n", "", 12, "metrics.count_a: a simple metric needs time"),
        ("expression: count(*)", "expression: id", 15, "metrics.count_a.expression: id aggregates nothing"),
        ("expression: count(*)", "expression: sum((id)", 15, "metrics.count_a.expression: cannot parse"),
        ("to: b,", "to: c,", 6, "joins.0.to: there is no entity called 'c'"),
        ("  colour: {", "  Colour: {", 9, "dimensions: name 'Colour' must be lower-case"),
        (
            "entity: b, expression: colour",
            "entity: b, expression: colour, parent: size",
            10,
            "no dimension called 'size'",
        ),
        (":period_start", ":start", 21, "verified_queries.one.sql: the parameter :start is not declared"),
        ("in {period}", "in {time}", 19, "verified_queries.one.patterns: there is no parameter called 'time'"),
        ("version: 1", "version: 2", 1, "version"),
        ("    time: day\n", "    time: day\n    window: 7 days\n", 12, "its type must be cumulative"),
        (
            "    time: day\n",
            "    time: day\n    type: cumulative\n    window: 7 days\n    to_date: year\n",
            12,
            "a window or to_date, not both",
        ),
        (
            "    time: day\n",
            "    time: day\n    type: cumulative\n    window: a week\n",
            18,
            "metrics.count_a.window: String should match",
        ),
        (
            "verified_queries:",
            "readings: {sales: {groups: count_a}}\nverified_queries:",
            17,
            "readings.sales: there is no ambiguous word called 'sales'",
        ),
        (
            "verified_queries:",
            "ambiguous: {sales: [count_a]}\nreadings: {sales: {groups: colour}}\nverified_queries:",
            18,
            "readings.sales.groups: there is no meaning of 'sales' called 'colour'",
        ),
        ("joins:", "joins: [", 6, ""),
    ],
)
def test_faults_name_file_line_and_key(tmp_path: Path, before: str, after: str, line: int, message: str) -> None:
    assert before in GOOD
    with pytest.raises(ConfigurationError) as caught:
        load(tmp_path, GOOD.replace(before, after, 1))
    text = str(caught.value)
    assert text.startswith(f"{tmp_path / 'semantic_model.yaml'}:{line}:"), text
    assert message in text
    assert "\n" not in text


def test_a_metric_must_not_be_made_of_itself(tmp_path: Path) -> None:
    text = GOOD.replace(
        "verified_queries:",
        "  x: {label: X, type: ratio, numerator: y, denominator: count_a}\n"
        "  y: {label: Y, type: derived, expression: x + 1}\nverified_queries:",
    )
    with pytest.raises(ConfigurationError, match="is defined by itself"):
        load(tmp_path, text)


@pytest.mark.parametrize("text", ["", "[]", "just words"])
def test_what_is_no_mapping(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigurationError, match="must be a mapping"):
        load(tmp_path, text)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot read the semantic model"):
        load_semantic_model(tmp_path / "none.yaml")


def test_two_equally_short_ways_are_refused(tmp_path: Path) -> None:
    model = load(
        tmp_path,
        GOOD.replace("columns: {b_id: id}}\n", "columns: {b_id: id}}\n  - {from: a, to: b, columns: {c_id: id}}\n"),
    )
    with pytest.raises(SemanticError, match="must keep one of these joins"):
        find_path(model, "a", "b")


def test_the_way_back_is_named_as_a_fan_out(tmp_path: Path) -> None:
    with pytest.raises(SemanticError, match="the join a to b would count rows of b several times"):
        find_path(load(tmp_path, GOOD), "b", "a")


def test_the_sample_has_what_its_analysts_ask_for(sample_model: SemanticModel) -> None:
    assert len(sample_model.metrics) >= 25
    assert {"revenue", "net_margin_percent", "churn_rate", "time_to_resolve", "headcount"} <= set(sample_model.metrics)


def test_the_schema_for_editors_is_up_to_date(repo_root: Path) -> None:
    stored = json.loads((repo_root / "config" / "schemas" / "semantic_model.schema.json").read_text(encoding="utf-8"))
    made = SemanticModel.model_json_schema(by_alias=True)
    assert {key: value for key, value in stored.items() if not key.startswith("$") or key == "$defs"} == made
