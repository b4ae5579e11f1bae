from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from rag_core.datamodel.answer import TraceEntry
from rag_core.datamodel.evidence import SqlEvidence
from rag_core.datamodel.plan import DimensionFilter, MetricQuery, SqlStep
from rag_core.datamodel.query import QueryResult, ResultColumn
from rag_core.graph.checkpoints import decode, encode
from rag_core.graph.state import Request
from rag_core.workers.outcome import StepOutcome
from rag_core.workers.synthesizer import Draft

CELLS = (2**80, Decimal("1.10"), None, True, "a\0b", date(2026, 1, 2), datetime(2026, 1, 2, 3, tzinfo=UTC), b"\x00\xff")


def _outcome() -> StepOutcome:
    columns = tuple(ResultColumn(name=f"c{number}", type="text") for number in range(len(CELLS)))
    result = QueryResult(columns=columns, rows=(CELLS,))
    return StepOutcome(step_id="s1", sql=SqlEvidence(marker="", step_id="s1", task="t", sql="SELECT 1", result=result))


@pytest.mark.parametrize(
    "value",
    [
        _outcome(),
        (_outcome(), _outcome()),
        Draft(headline_value=Decimal("1.50"), headline_unit="EUR"),
        Request(question="x", run_date=date(2026, 7, 1), parameters={"a": 1}),
        SqlStep(
            step_id="s1",
            task="t",
            metric_query=MetricQuery(metrics=("m",), filters=(DimensionFilter(dimension="d", values=("x", 1)),)),
        ),
        {"step": ("a", [1, 2.5, None]), "more": {"x": True}},
        (TraceEntry(node="plan", started_at=datetime(2026, 1, 1, tzinfo=UTC), ms=1.5, detail={"a": [1]}),),
    ],
)
def test_values_come_back_as_they_were(value: Any) -> None:
    back = decode(json.loads(json.dumps(encode(value))))
    assert back == value
    assert type(back) is type(value)


def test_a_task_for_a_worker_comes_back() -> None:
    from langgraph.types import Send

    back = decode(json.loads(json.dumps(encode(Send("sql_worker", {"previous": (_outcome(),)})))))
    assert isinstance(back, Send)
    assert (back.node, back.arg) == ("sql_worker", {"previous": (_outcome(),)})


def test_no_other_class_is_built_from_a_checkpoint() -> None:
    with pytest.raises(ValueError, match="none of its records"):
        decode({"$": "record", "type": "Settings", "value": "{}"})
