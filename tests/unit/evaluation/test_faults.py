from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime
from typing import Any

import pytest

from rag_core.datamodel.answer import Answer, Verdict
from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable
from rag_core.datamodel.evidence import SqlEvidence
from rag_core.datamodel.query import QueryResult, ResultColumn
from rag_core.evaluation.faults import PlantedFault, Standing, judge_answer, plant_faults, summarise_faults

CATALOG = Catalog(
    dialect="postgres",
    database="d",
    taken_at=datetime(2026, 1, 1, tzinfo=UTC),
    tables=tuple(
        CatalogTable(
            schema_name="public",
            name=name,
            columns=tuple(CatalogColumn(name=column, type="integer") for column in ("id", "total", "day")),
        )
        for name in ("orders", "regions", "people")
    ),
)


def rows(*values: int) -> QueryResult:
    return QueryResult(columns=(ResultColumn(name="n", type="integer"),), rows=tuple((value,) for value in values))


def standing(number: int) -> Standing:
    return Standing(
        question=f"question {number}",
        sql="SELECT SUM(orders.total) FROM public.orders AS orders JOIN public.regions AS r ON r.id = orders.id",
        tables=("public.orders", "public.regions"),
        columns=("public.orders.id", "public.orders.total", "public.regions.id"),
        truth=rows(7),
    )


def answer(status: Any, *results: QueryResult) -> Answer:
    evidence = tuple(
        SqlEvidence(marker="S1", step_id="s1", task="t", sql="", result=item, strategy="metric") for item in results
    )
    return Answer(
        question="q",
        run_date=date(2026, 7, 1),
        status=status,
        text="The total is 7.",
        strategy="metric",
        query_type="sql",
        sql=evidence,
        verdict=Verdict(supported=True, relevance=1.0, citation_accuracy=1.0),
    )


def test_each_kind_is_planted_as_often_and_the_same_questions_give_the_same_cases() -> None:
    asked = [standing(number) for number in range(8)]
    cases = plant_faults(asked, CATALOG, 40)
    assert Counter(case.kind for case in cases) == {"renamed": 10, "dropped": 10, "retyped": 10, "wrong_table": 10}
    assert len({case.case_id for case in cases}) == 40
    assert cases == plant_faults(asked, CATALOG, 40)


def test_a_plans_statement_names_a_wrong_table_and_keeps_its_qualifiers() -> None:
    cases = [case for case in plant_faults([standing(n) for n in range(8)], CATALOG, 40) if case.kind == "wrong_table"]
    assert {case.change.split(" for ")[0] for case in cases} >= {"region", "tbl_regions", "zz_ledger"}
    for case in cases:
        wrong, right = case.change.split(" for ")
        assert f"public.{wrong} " in case.sql
        assert f"{right} " not in case.sql
        assert case.sql != case.standing.sql


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        (answer("answered", rows(7)), "recovered"),
        (answer("partial", rows(7)), "recovered"),
        (answer("answered", rows(8)), "wrong"),
        # A figure that is given is wrong even where the answer says that something is missing.
        (answer("partial", rows(8)), "wrong"),
        (answer("failed"), "said"),
        (answer("no_evidence", rows(8)), "said"),
    ],
)
def test_only_other_rows_that_are_given_are_wrong(given: Answer, outcome: str) -> None:
    case = PlantedFault(case_id="dropped-0", kind="dropped", standing=standing(0), column="public.orders.total")
    assert judge_answer(case, given).outcome == outcome


def test_the_share_counts_what_was_recovered_or_said() -> None:
    case = PlantedFault(case_id="dropped-0", kind="dropped", standing=standing(0), column="public.orders.total")
    scores = [judge_answer(case, item) for item in (answer("failed"), answer("answered", rows(8)))]
    assert summarise_faults(scores)[-1] == {
        "fault": "all",
        "cases": 2,
        "recovered": 0,
        "said": 1,
        "wrong": 1,
        "recovered_or_said": 0.5,
    }
