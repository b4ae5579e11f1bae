"""Measures judging, publishing, rendering and the views: `python -m bench.reports.measure [--rows 1000000]`.

Runs on an embedded PostgreSQL in a temporary folder and prints a Markdown table. CPU seconds are of this process.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import psycopg

from rag_core.connectors.embedded import EmbeddedPostgres
from rag_core.connectors.migrations import migrate
from rag_core.datamodel.answer import Answer, Citation, Usage, Verdict
from rag_core.datamodel.evidence import ColumnMeaning, SqlEvidence
from rag_core.datamodel.query import QueryResult, ResultColumn
from rag_core.datamodel.question import Batch, Expectation, Question
from rag_core.datamodel.report import CheckResult
from rag_core.quality.decide import decide
from rag_core.quality.suites import observe_answer
from rag_core.quality.validate import judge
from rag_core.reports.bundle import AnsweredQuestion, RunBundle
from rag_core.reports.render import render_html
from rag_core.reports.writer import publish_run

QUESTIONS = 200
ROWS_A_RESULT = 30
RUN_DATE = date(2026, 7, 1)
# A night of 500 questions, for five years.
NIGHTLY = 500


def make_answers() -> list[tuple[Question, Answer]]:
    """200 questions with a result of 30 rows and five expectations each."""
    columns = (ResultColumn(name="month", type="date"), ResultColumn(name="revenue", type="numeric(14,2)"))
    meanings = (
        ColumnMeaning(name="month", label="Month", role="time"),
        ColumnMeaning(name="revenue", label="Revenue", unit="EUR", decimals=2, role="metric"),
    )
    expectations = (
        Expectation(kind="row_count", min=1, max=100),
        Expectation(kind="bounds", column="revenue", min=0, max=10_000_000),
        Expectation(kind="unique", column="month"),
        Expectation(kind="sum", column="revenue", min=0),
        Expectation(kind="row_count_history"),
    )
    made = []
    for number in range(QUESTIONS):
        rows = tuple(
            (date(2024 + month // 12, month % 12 + 1, 1), Decimal(number * 1000 + month) / 4)
            for month in range(ROWS_A_RESULT)
        )
        evidence = SqlEvidence(
            marker="S1",
            step_id="a",
            task="revenue",
            sql="SELECT 1",
            result=QueryResult(columns=columns, rows=rows),
            meanings=meanings,
        )
        question = Question(question_id=f"q{number}", text=f"Question {number}?", expectations=expectations)
        answer = Answer(
            question=question.text,
            question_id=question.question_id,
            run_date=RUN_DATE,
            status="answered",
            text="Revenue was 5 EUR. [S1]",
            strategy="replay",
            query_type="sql",
            verdict=Verdict(supported=True),
            citations=(Citation(marker="S1", kind="sql", ref="SELECT 1", excerpt="5"),),
            sql=(evidence,),
            headline_value=Decimal(5),
            headline_unit="EUR",
        )
        made.append((question, answer))
    return made


def fill_history(connection: psycopg.Connection, rows: int) -> None:
    """Answers of many nights, made by the database: 500 questions a night, the last run being RUN_DATE."""
    nights = rows // NIGHTLY
    connection.execute(
        "SELECT nightshift.ensure_report_partitions(day::date)"
        " FROM generate_series(%(end)s::date - %(nights)s, %(end)s::date, interval '1 day') AS day",
        {"end": RUN_DATE, "nights": nights},
    )
    connection.execute(
        "INSERT INTO reports.dim_batch (batch, title, description, owner, audience, timezone)"
        " SELECT 'h' || n, 'T', '', 'o', '', 'UTC' FROM generate_series(0, 9) AS n"
    )
    connection.execute(
        "INSERT INTO reports.dim_question SELECT 'h' || n %% 10, 'q' || n, 1, 'T', 'Q?', '', '2021-01-01'"
        " FROM generate_series(0, %s - 1) AS n",
        (NIGHTLY,),
    )
    connection.execute(
        "INSERT INTO reports.dim_run SELECT gen_random_uuid(), 'h' || n, %(end)s::date - d, now(), now(), 50, 50, 0, 0,"
        " 0, 0, 0, 0, NULL, NULL FROM generate_series(0, 9) AS n, generate_series(0, %(nights)s - 1) AS d",
        {"end": RUN_DATE, "nights": nights},
    )
    connection.execute(
        "INSERT INTO reports.fact_answer SELECT %(end)s::date - d, 'h' || n %% 10, 'q' || n, 1, gen_random_uuid(),"
        " CASE WHEN n = d %% 7 THEN 'quarantined' ELSE 'published' END, 'answered', 'replay', 'sql', 'Q?',"
        " repeat('Revenue was 5 EUR. ', 10), 5, '5', 'EUR', 1, '', '', true, 1, 1, 1, 0, 0, 0, NULL, 5, NULL, now(), ''"
        " FROM generate_series(0, %(questions)s - 1) AS n, generate_series(0, %(nights)s - 1) AS d",
        {"end": RUN_DATE, "nights": nights, "questions": NIGHTLY},
    )
    connection.execute(
        "INSERT INTO nightshift.latest_answer SELECT batch, question_id, max(run_date) FROM reports.fact_answer"
        " WHERE state = 'published' AND batch <> 'bench' GROUP BY batch, question_id"
    )
    connection.execute("ANALYZE")


def timed(action: Callable[[], object], *, times: int = 1) -> tuple[float, float]:
    """Median wall-clock and CPU seconds of an action."""
    walls, cpus = [], []
    for _ in range(times):
        wall, cpu = time.perf_counter(), time.process_time()
        action()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return statistics.median(walls), statistics.median(cpus)


def measure(dsn: str, rows: int) -> list[tuple[str, str, str]]:
    """(what, figure, bound) of every measurement."""
    answers = make_answers()
    found: list[tuple[str, str, str]] = []

    def judge_all() -> RunBundle:
        results = judge([item for question, answer in answers for item in observe_answer(question, answer)])
        checks: dict[str, list[CheckResult]] = {}
        for result in results:
            checks.setdefault(result.question_id, []).append(result)
        items = tuple(
            AnsweredQuestion(
                question=question,
                answer=answer,
                outcome=decide(question, answer, checks.get(question.question_id, [])),
            )
            for question, answer in answers
        )
        now = datetime.now(UTC)
        return RunBundle(
            run_id=str(uuid.uuid4()),
            batch=Batch(batch="bench", title="Bench", owner="bench", questions=tuple(q for q, _ in answers)),
            run_date=RUN_DATE,
            started_at=now,
            finished_at=now,
            published=True,
            items=items,
            usage=Usage(),
        )

    _, import_cpu = timed(judge_all)
    wall, cpu = timed(judge_all, times=3)
    found.append(("judge 200 results, first in the process (imports)", f"{import_cpu:.1f} s CPU", ""))
    found.append(("judge 200 results", f"{cpu:.2f} s CPU, {wall:.2f} s", "3 s CPU"))
    bundle = judge_all()
    with psycopg.connect(dsn) as connection:

        def publish() -> None:
            with connection.transaction():
                publish_run(connection, bundle, Path("report.html"))

        first, _ = timed(publish)
        again, _ = timed(publish, times=3)
    found.append(("publish 200 answers, 12,000 cells, first (makes 200 views)", f"{first:.2f} s", "2 s"))
    found.append(("publish 200 answers, 12,000 cells, again", f"{again:.2f} s", "2 s"))
    wall, _ = timed(lambda: render_html(bundle, {}))
    found.append(("render the HTML report of 200 answers with 200 charts", f"{wall:.1f} s", ""))
    with psycopg.connect(dsn, autocommit=True) as connection:
        fill_history(connection, rows)
        for title, query, bound in (
            ("answer_latest, all", "SELECT * FROM reports.answer_latest", "50 ms"),
            ("answer_latest, one batch", "SELECT * FROM reports.answer_latest WHERE batch = 'h3'", "50 ms"),
            (
                "history of one question",
                "SELECT * FROM reports.answer_history WHERE batch = 'h3' AND question_id = 'q3'",
                "50 ms",
            ),
            ("typed view of one question", "SELECT * FROM reports.q_q3", ""),
            ("cost_by_day", "SELECT * FROM reports.cost_by_day", ""),
        ):
            connection.execute(query)
            wall, _ = timed(lambda text=query: connection.execute(text).fetchall(), times=9)  # type: ignore[misc]
            found.append((f"{title}, {rows:,} answers", f"{wall * 1000:.0f} ms", bound))
    return found


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="nsbench"))
    server = EmbeddedPostgres(folder)
    server.start()
    try:
        server.ensure_database("bench")
        dsn = server.dsn("bench")
        migrate(dsn)
        sys.stdout.write("| what | measured | bound |\n| --- | --- | --- |\n")
        for row in measure(dsn, options.rows):
            sys.stdout.write(f"| {' | '.join(row)} |\n")
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
