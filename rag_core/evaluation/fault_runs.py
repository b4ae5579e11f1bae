"""Plants faults in copies of the sample warehouse and asks as on the next night; no chat model is used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import psycopg
from psycopg import sql

from rag_core.connectors.base import Warehouse
from rag_core.connectors.embedded import EmbeddedPostgres
from rag_core.connectors.sql_files import template
from rag_core.connectors.store import Store
from rag_core.connectors.warehouses import open_warehouse
from rag_core.datamodel.answer import Answer
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.plan import Plan, SqlStep
from rag_core.evaluation.faults import KINDS, FaultScore, PlantedFault, Standing, judge_answer
from rag_core.evaluation.score_files import open_scores, read_scores
from rag_core.graph.build import Orchestrator
from rag_core.graph.caches import NoDocuments
from rag_core.graph.state import Request
from rag_core.policy.rules import Policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.schema.cache import CatalogCache
from rag_core.schema.drift import detect_drift
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.values import ValueIndex, read_values

COPY = "eval_fault"


@dataclass(frozen=True, slots=True)
class FaultSetting:
    """What the cases share. `original` is the database that is copied, on `server`; nobody may be connected to it."""

    server: EmbeddedPostgres
    original: str
    store: Store
    policy: Policy
    semantic_model: SemanticModel
    run_date: date


def read_original(setting: FaultSetting) -> Catalog:
    """The schema while nothing is wrong."""
    warehouse = open_warehouse(setting.server.dsn(setting.original))
    try:
        return warehouse.snapshot()
    finally:
        warehouse.close()


def find_standing(setting: FaultSetting, questions: Sequence[str], size: int) -> list[Standing]:
    """The first so many questions that one statement answers while nothing is wrong."""
    found: list[Standing] = []
    with _copied(setting, f"{COPY}_standing") as warehouse:
        values = _values(setting, warehouse)
        orchestrator = _orchestrator(setting, warehouse, values)
        for question in questions:
            if len(found) == size:
                break
            answer = orchestrator.answer(question, run_date=setting.run_date)
            if answer.status != "answered" or len(answer.sql) != 1 or not answer.sql[0].result.rows:
                continue
            evidence = answer.sql[0]
            found.append(
                Standing(
                    question=question,
                    sql=evidence.sql,
                    tables=evidence.tables,
                    columns=evidence.columns,
                    truth=evidence.result,
                )
            )
    return found


def run_faults(
    setting: FaultSetting,
    cases: Sequence[PlantedFault],
    path: Path,
    size: int,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[FaultScore]:
    """Scores of so many cases, each kind as often; what `path` holds already is not run again.

    A column's fault is planted behind the back of a process that has read the schema; a case whose fault the database
    does not let in, such as the type of a partition's key, is left out and the next one of its kind taken.
    """
    kept = {score.case_id: score for score in read_scores(path, FaultScore)}
    scores: list[FaultScore] = []
    quota = {kind: (size + place) // len(KINDS) for place, kind in enumerate(reversed(KINDS))}
    with open_scores(path) as keep:
        for case in cases:
            if not quota[case.kind]:
                continue
            score = kept.get(case.case_id)
            if score is None:
                score = run_case(setting, case)
                if score is None:
                    continue
                keep(score)
            scores.append(score)
            quota[case.kind] -= 1
            if progress is not None:
                progress(len(scores), size)
    return scores


def run_case(setting: FaultSetting, case: PlantedFault) -> FaultScore | None:
    """One case in a database of its own; None where the database does not let the fault in."""
    name = f"{COPY}_{case.case_id}"
    with _copied(setting, name) as warehouse:
        values = _values(setting, warehouse)
        orchestrator = _orchestrator(setting, warehouse, values)
        detect_drift(warehouse, setting.store, actor="evaluation", rules=setting.policy.drift)
        if case.kind != "wrong_table" and not _plant(setting.server.dsn(name), case, warehouse.snapshot()):
            return None
        return judge_answer(case, _ask(setting, orchestrator, case))


def _ask(setting: FaultSetting, orchestrator: Orchestrator, case: PlantedFault) -> Answer:
    question = case.standing.question
    if case.kind != "wrong_table":
        return orchestrator.answer(question, run_date=setting.run_date)
    plan = Plan(
        plan_id=case.case_id,
        question=question,
        run_date=setting.run_date,
        query_type="sql",
        strategy="replay",
        steps=(SqlStep(step_id="s1", task=question, sql=case.sql),),
    )
    request = Request(question=question, run_date=setting.run_date)
    state = orchestrator.get_compiled_app().invoke({"request": request, "plan": plan})
    answer = state["answer"]
    assert isinstance(answer, Answer)
    return answer


def _orchestrator(setting: FaultSetting, warehouse: Warehouse, values: ValueIndex) -> Orchestrator:
    cache = CatalogCache(warehouse)
    return Orchestrator(
        warehouse=warehouse,
        guard=SqlGuard(setting.policy, cache.current()),
        catalog_cache=cache,
        semantic_model=setting.semantic_model,
        values=values,
        search=NoDocuments(),
        store=setting.store,
    )


def _values(setting: FaultSetting, warehouse: Warehouse) -> ValueIndex:
    return read_values(setting.semantic_model, warehouse, SqlGuard(setting.policy, warehouse.snapshot()))


@contextmanager
def _copied(setting: FaultSetting, name: str) -> Iterator[Warehouse]:
    """A copy of the original that is gone afterwards."""
    identifiers = {"database": sql.Identifier(name), "source": sql.Identifier(setting.original)}
    with psycopg.connect(setting.server.dsn("postgres"), autocommit=True) as connection:
        connection.execute(template("evaluation/drop_database").format(database=identifiers["database"]))
        connection.execute(template("evaluation/copy_database").format(**identifiers))
    warehouse = open_warehouse(setting.server.dsn(name))
    try:
        yield warehouse
    finally:
        warehouse.close()
        with psycopg.connect(setting.server.dsn("postgres"), autocommit=True) as connection:
            connection.execute(template("evaluation/drop_database").format(database=identifiers["database"]))


def _plant(dsn: str, case: PlantedFault, catalog: Catalog) -> bool:
    """Changes the schema; views that a column's type is fixed by go first."""
    schema_name, table_name, column_name = case.column.split(".")
    statements = {"renamed": "rename_column", "dropped": "drop_column", "retyped": "retype_column"}
    changed = {"renamed": "new_name", "retyped": "new_type"}
    parts = {"schema_name": schema_name, "table_name": table_name, "column_name": column_name}
    if case.kind in changed:
        parts[changed[case.kind]] = case.change
    statement = template(f"evaluation/{statements[case.kind]}").format(
        **{key: sql.Identifier(value) for key, value in parts.items()}
    )
    try:
        with psycopg.connect(dsn) as connection:
            for view in catalog.tables if case.kind == "retyped" else ():
                dropped = {"view": "drop_view", "materialized_view": "drop_kept_view"}.get(view.kind)
                if dropped is not None:
                    names = {"schema_name": sql.Identifier(view.schema_name), "table_name": sql.Identifier(view.name)}
                    connection.execute(template(f"evaluation/{dropped}").format(**names))
            connection.execute(statement)
    except (psycopg.NotSupportedError, psycopg.ProgrammingError):
        # A key, a partition or a constraint stands in the way.
        return False
    return True
