from __future__ import annotations

from decimal import Decimal

import pytest

from rag_core.datamodel.evidence import ColumnMeaning
from rag_core.datamodel.plan import DimensionFilter, MetricCondition, MetricQuery
from rag_core.workers.figure_gaps import tell_none, tell_unnamed
from rag_core.workers.figure_words import column_meanings, scope, show_cell
from tests.evidence import sql_evidence

OWNER = ColumnMeaning(name="owner", label="Owner", role="dimension")
FAULTS = ColumnMeaning(name="faults", label="Faults", unit="faults", decimals=0, role="metric")


def test_no_row_is_told_with_what_was_asked_of_it() -> None:
    over = MetricCondition(metric="faults", operator=">", value=Decimal(10))
    query = MetricQuery(metrics=("faults",), dimensions=("owner",), conditions=(over,))
    assert tell_none([OWNER, FAULTS], query, " in 2025", "") == "None: no owner had faults over 10 in 2025."
    assert tell_none([OWNER, FAULTS], query.model_copy(update={"conditions": ()}), "", "").endswith("had faults.")
    assert tell_none([], None, "", "Pumps without a check") == "None: no row meets this: Pumps without a check."
    assert tell_none([], None, "", "") == ""


def test_rows_without_a_name_are_counted_where_there_are_several() -> None:
    evidence = sql_evidence(
        {"owner": "text", "site": "text", "faults": "bigint"}, ("Ann", "A", 3), (None, "A", 2), (None, "B", 1),
        meanings=(OWNER, OWNER.model_copy(update={"name": "site", "label": "Site"}), FAULTS),
    )  # fmt: skip
    assert tell_unnamed(evidence, column_meanings(evidence), 2, None) == ("Rows without an owner: 2 of those listed.",)


@pytest.mark.parametrize(("negated", "told"), [(False, " without an owner"), (True, " with any owner")])
def test_a_filter_on_no_value_is_spoken(negated: bool, told: str) -> None:
    item = DimensionFilter(dimension="owner", values=(None,), negated=negated)
    assert scope(MetricQuery(metrics=("faults",), filters=(item,)), {}) == told


def test_a_missing_name_is_shown_as_such_and_a_missing_number_as_no_value() -> None:
    assert (show_cell(None, OWNER), show_cell(None, FAULTS)) == ("no owner", "no value")
