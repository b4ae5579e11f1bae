"""Published answers as BI tools meet them, and what the role for BI tools reads of them."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from rag_core.datamodel.evidence import ColumnMeaning
from rag_core.datamodel.question import Expectation, Question
from rag_core.provision import BI_ROLE
from tests.integration.batch.conftest import MakeRunner, bi_connection, connection, make_runner, store
from tests.integration.batch.scripted import (
    ScriptedOrchestrator,
    make_batch,
    passage,
    result_evidence,
    scripted_answer,
)

__all__ = ["bi_connection", "connection", "make_runner", "store"]

BATCH = "bi"
QUESTION = "bi_revenue"
HOW_TO_MAKE = (
    "needs TEST_SUPERSET_ENVIRONMENT, the folder of an environment with BI clients:"
    " make it by scripts/superset_environment.sh FOLDER"
)
NIGHTS = (date(2026, 6, 30), date(2026, 7, 1))
REGIONS = ["DACH", "Österreich & Süd", "O'Higgins <b>", "Iberia"]


@pytest.fixture(scope="session")
def clients() -> Path:
    """The environment with Superset and DuckDB's extension; skips with the way to make it."""
    folder = os.environ.get("TEST_SUPERSET_ENVIRONMENT")
    if not folder or not (Path(folder) / "bin" / "superset").is_file():
        pytest.skip(HOW_TO_MAKE)
    return Path(folder)


@pytest.fixture
def published(make_runner: MakeRunner) -> None:
    """Two nights of a question with numbers, dates and texts that clients are known to spoil, and one of documents.

    Twelve digits before the point, cents, a NULL, characters outside ASCII, a moment with a time zone; and a third
    question that fails each night.
    """
    for number, night in enumerate(NIGHTS):
        amounts = [Decimal("175784888111.37") + number, Decimal("0.10"), None, Decimal("-42.05")]
        columns = {
            "region": ("text", REGIONS),
            "revenue": ("numeric(14,2)", amounts),
            "share": ("double precision", [0.1, 0.25, -1.5, 1e-9]),
            "first_order": ("date", [date(2024, 2, 29), None, date(2026, 6, 1), date(2026, 6, 30)]),
            "seen_at": ("timestamp with time zone", [datetime(2026, 6, 30, 23, 30, tzinfo=UTC)] * 4),
            "open": ("boolean", [True, False, None, True]),
        }
        meaning = ColumnMeaning(name="revenue", label="Revenue", unit="EUR", role="metric", decimals=2)
        answers = {
            QUESTION: scripted_answer(result_evidence(columns, meanings=[meaning])),
            "bi_cause": scripted_answer(documents=[passage()], text="A strike. [D1]", strategy="documents"),
            "bi_failed": scripted_answer(status="failed", text="", explanation="The warehouse did not answer."),
        }
        expectation = Expectation(kind="row_count", min=10, severity="warning")
        questions = [
            Question(question_id=QUESTION, text="What was revenue by region?", expectations=(expectation,)),
            Question(question_id="bi_cause", text="Why did revenue fall?"),
            Question(question_id="bi_failed", text="What fails?"),
        ]
        make_runner(ScriptedOrchestrator(answers)).run(make_batch(BATCH, questions), night)


@pytest.fixture
def bi_dsn(store_dsn: str) -> str:
    """The store's address for the role of BI tools."""
    return store_dsn.replace("postgresql://postgres@", f"postgresql://{BI_ROLE}@")
