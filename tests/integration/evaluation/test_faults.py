"""Planted schema mismatches on copies of the sample warehouse: a small part of `nightshift eval orchestration`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.connectors.embedded import EmbeddedPostgres
from rag_core.connectors.store import Store
from rag_core.evaluation.fault_runs import FaultSetting, find_standing, read_original, run_faults
from rag_core.evaluation.faults import plant_faults, summarise_faults
from rag_core.evaluation.stores import fresh_store
from rag_core.policy.rules import load_policy
from rag_core.semantics.model import load_semantic_model
from rag_core.wiring import SAMPLE_AS_OF
from sample.warehouse.load import load_warehouse

pytestmark = pytest.mark.integration

QUESTIONS = (
    "What was our revenue last quarter?",
    "How much discount did we give last quarter?",
    "What was revenue by region last quarter?",
    "Which churn reason lost us the most customers this year?",
    "How many Halo Gateways did we sell last quarter?",
    "What was revenue by customer segment last year?",
)


@pytest.fixture
def setting(pg_server: EmbeddedPostgres, repo_root: Path) -> Iterator[FaultSetting]:
    pg_server.ensure_database("fault_original")
    load_warehouse(pg_server.dsn("fault_original"))
    store = Store(fresh_store(pg_server, "fault_store"))
    yield FaultSetting(
        server=pg_server,
        original="fault_original",
        store=store,
        policy=load_policy(repo_root / "config" / "schema_policy.yaml"),
        semantic_model=load_semantic_model(repo_root / "config" / "semantic_model.yaml"),
        run_date=SAMPLE_AS_OF,
    )
    store.close()


def test_planted_faults_are_recovered_or_said_and_never_wrong(setting: FaultSetting, tmp_path: Path) -> None:
    standing = find_standing(setting, QUESTIONS, 6)
    assert len(standing) >= 4
    cases = plant_faults(standing, read_original(setting), 60)
    path = tmp_path / "faults.jsonl"
    scores = run_faults(setting, cases, path, 12)
    assert Counter(score.kind for score in scores) == {"renamed": 3, "dropped": 3, "retyped": 3, "wrong_table": 3}
    assert [score for score in scores if score.outcome == "wrong"] == []
    by_kind = {row["fault"]: row for row in summarise_faults(scores)}
    assert by_kind["renamed"]["recovered"] == 3
    assert by_kind["dropped"]["said"] == 3
    assert by_kind["all"]["recovered_or_said"] == 1.0

    # What was run is kept: the file alone gives the same scores.
    assert run_faults(setting, cases, path, 12) == scores
