"""Planted schema mismatches: what is done to a warehouse or to a kept plan, and what an answer made of it. Pure.

A quarter each: a column renamed, a column dropped, a column of another type, and a kept plan whose SQL names a wrong
table. The truth of a question is what its statement gives while nothing is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import sqlglot
from sqlglot import exp

from rag_core.datamodel.answer import Answer
from rag_core.datamodel.base import Record
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.query import QueryResult
from rag_core.schema.types import canonical_type
from rag_core.workers.result_match import same_result
from rag_core.workers.sql_repair.shape import singular

FaultKind = Literal["renamed", "dropped", "retyped", "wrong_table"]
FaultOutcome = Literal["recovered", "said", "wrong"]
KINDS: tuple[FaultKind, ...] = ("renamed", "dropped", "retyped", "wrong_table")
_WIDER = {"integer": "int8", "smallint": "int8", "bigint": "numeric", "character varying": "text", "real": "float8"}


class Standing(Record):
    """A question that is answered rightly while nothing is wrong: its statement, what it reads, and its result."""

    question: str
    sql: str
    tables: tuple[str, ...]
    columns: tuple[str, ...]
    truth: QueryResult


class PlantedFault(Record):
    """One case. A column's fault names `column` and what it becomes (`change`); a plan's fault holds its `sql`."""

    case_id: str
    kind: FaultKind
    standing: Standing
    column: str = ""
    change: str = ""
    sql: str = ""

    @property
    def planted(self) -> str:
        """What was done, in a few words."""
        if self.kind == "wrong_table":
            return f"plan names {self.change}"
        return f"{self.column} {self.kind}" + (f" to {self.change}" if self.change else "")


class FaultScore(Record):
    """What became of one case; `told` is the answer's text or the reason why there is none."""

    case_id: str
    kind: FaultKind
    planted: str
    outcome: FaultOutcome
    status: str
    told: str


def plant_faults(standing: Sequence[Standing], catalog: Catalog, size: int) -> list[PlantedFault]:
    """So many cases, the kinds in turn, over the questions at even distances; fewer where there are too few."""
    offers = {kind: _offers(kind, standing, catalog) for kind in KINDS}
    cases: list[PlantedFault] = []
    while len(cases) < size and offers:
        for kind in list(offers):
            case = next(offers[kind], None)
            if case is None:
                del offers[kind]
            elif len(cases) < size:
                cases.append(case)
    return cases


def judge_answer(case: PlantedFault, answer: Answer) -> FaultScore:
    """Recovered: the true rows. Said: no rows are given. Wrong: other rows are."""
    given = [evidence.result for evidence in answer.sql] if answer.status in ("answered", "partial") else []
    if any(same_result(case.standing.truth, result) for result in given):
        outcome: FaultOutcome = "recovered"
    else:
        outcome = "wrong" if given else "said"
    return FaultScore(
        case_id=case.case_id,
        kind=case.kind,
        planted=case.planted,
        outcome=outcome,
        status=answer.status,
        told=" ".join(answer.text.split())[:300],
    )


def summarise_faults(scores: Sequence[FaultScore]) -> list[dict[str, object]]:
    """One row a kind and one for all: counts, and the share that is recovered or said."""
    rows: list[dict[str, object]] = []
    for kind in (*KINDS, "all"):
        own = [score for score in scores if kind in (score.kind, "all")]
        if not own:
            continue
        counts = {name: sum(score.outcome == name for score in own) for name in ("recovered", "said", "wrong")}
        good = counts["recovered"] + counts["said"]
        rows.append({"fault": kind, "cases": len(own), **counts, "recovered_or_said": round(good / len(own), 3)})
    return rows


def _offers(kind: FaultKind, standing: Sequence[Standing], catalog: Catalog) -> Iterator[PlantedFault]:
    """Cases of a kind, each question once before any comes again with another column or table."""
    start = KINDS.index(kind) * max(1, len(standing) // len(KINDS))
    turned = [*standing[start:], *standing[:start]]
    number = 0
    for place in range(4):
        for asked in turned:
            names = asked.tables if kind == "wrong_table" else asked.columns
            if place >= len(names):
                continue
            case = _case(kind, number, asked, names[-1 - place], catalog)
            if case is not None:
                number += 1
                yield case


def _case(kind: FaultKind, number: int, asked: Standing, name: str, catalog: Catalog) -> PlantedFault | None:
    case_id = f"{kind}-{number}"
    if kind == "wrong_table":
        wrong = _wrong_table(number, name, catalog)
        sql = _with_table(asked.sql, name, wrong, catalog.dialect)
        if sql == asked.sql:
            return None
        return PlantedFault(case_id=case_id, kind=kind, standing=asked, change=f"{wrong} for {name}", sql=sql)
    table, _, column = name.rpartition(".")
    held = catalog.table(table)
    found = held.column(column) if held is not None else None
    if held is None or found is None or held.kind not in ("table", "partitioned_table"):
        return None
    change = ""
    if kind == "renamed":
        change = (f"{column}_value", f"c{number}_{column[::-1]}", column.replace("_", "") + "_v2")[number % 3]
    elif kind == "retyped":
        change = "text" if number % 2 else _WIDER.get(canonical_type(found.type).name, "text")
    return PlantedFault(case_id=case_id, kind=kind, standing=asked, column=name, change=change)


def _wrong_table(number: int, name: str, catalog: Catalog) -> str:
    """A wrong name: misspelt, in the singular or plural, marked, of nothing that is there, or of another table."""
    bare = name.rpartition(".")[2]
    one = singular(bare)
    others = sorted(table.name for table in catalog.tables if table.qualified_name != name)
    wrong = (
        bare[:-3] + bare[-2:],
        one if one != bare else f"{bare}s",
        f"tbl_{bare}",
        "zz_ledger",
        others[number % len(others)],
    )
    return wrong[number % len(wrong)]


def _with_table(sql: str, name: str, wrong: str, dialect: str) -> str:
    """The statement with another name for one of its tables; its columns keep their qualifier."""
    tree = sqlglot.parse_one(sql, dialect=dialect)
    changed = False
    for table in tree.find_all(exp.Table):
        if f"{table.db}.{table.name}" == name:
            if not table.alias:
                table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name)))
            table.set("this", exp.to_identifier(wrong))
            changed = True
    return tree.sql(dialect=dialect) if changed else sql
