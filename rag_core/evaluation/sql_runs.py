"""Runs questions through systems that write SQL, keeping each score in a file, and sums up. No model judges."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from rag_core.datamodel.base import Record
from rag_core.datamodel.query import QueryResult
from rag_core.evaluation.score_files import open_scores, read_scores
from rag_core.evaluation.sql_databases import EvalDatabase
from rag_core.evaluation.sql_questions import SqlQuestion
from rag_core.evaluation.sql_systems import SqlSystem, run_statement
from rag_core.workers.result_match import holds_result, same_result

Verdict = Literal["right", "wrong", "failed", "withheld"]


class SqlScore(Record):
    """One question put to one system.

    `first` is what the first statement of the model would have brought, `final` what the system gave: right (the same
    rows as a gold statement), wrong (others), failed (it did not run) or withheld (it said that it does not know).
    `holds` says that the right columns are among more of them. For a question without gold, withheld is right.
    """

    question_id: str
    database: str
    category: str
    system: str
    answerable: bool
    first: Verdict
    final: Verdict
    holds: bool
    repaired: str
    fault: str
    sql: str
    first_sql: str
    model_calls: int
    tokens: int
    seconds: float


def run_sql_questions(
    questions: Sequence[SqlQuestion],
    open_database: Callable[[str], EvalDatabase],
    systems: Mapping[str, Callable[[EvalDatabase], SqlSystem]],
    path: Path,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[SqlScore]:
    """Scores of every question by every system; what `path` holds already is not asked again.

    Questions are asked database by database and system by system, so that the stable part of a prompt is read once.
    """
    kept = read_scores(path, SqlScore)
    done = {(score.system, score.question_id) for score in kept}
    wanted = {(name, question.question_id) for name in systems for question in questions}
    total, number = len(wanted - done), 0
    with open_scores(path) as keep:
        for database in dict.fromkeys(question.database for question in questions):
            own = [question for question in questions if question.database == database]
            if all((name, question.question_id) in done for name in systems for question in own):
                continue
            opened = open_database(database)
            try:
                for name, make in systems.items():
                    ask = make(opened)
                    for question in own:
                        if (name, question.question_id) in done:
                            continue
                        score = _score(question, name, ask, opened)
                        keep(score)
                        kept.append(score)
                        number += 1
                        if progress is not None:
                            progress(number, total)
            finally:
                opened.warehouse.close()
    return [score for score in kept if (score.system, score.question_id) in wanted]


def _score(question: SqlQuestion, name: str, ask: SqlSystem, database: EvalDatabase) -> SqlScore:
    started = time.perf_counter()
    reply = ask(question)
    seconds = time.perf_counter() - started
    gold = [result for result, _ in (run_statement(database, sql) for sql in question.gold) if result is not None]
    first_result, _ = run_statement(database, reply.first) if reply.first else (None, None)
    final = _judge(question, reply.result, gold)
    return SqlScore(
        question_id=question.question_id,
        database=question.database,
        category=question.category,
        system=name,
        answerable=bool(question.gold),
        first=_judge(question, first_result, gold),
        final="withheld" if reply.result is None and reply.withheld else final,
        holds=reply.result is not None
        and any(holds_result(item, reply.result, ordered=question.ordered) for item in gold),
        repaired=reply.repaired,
        fault=reply.fault,
        sql=reply.sql,
        first_sql=reply.first,
        model_calls=reply.usage.model_calls,
        tokens=reply.usage.prompt_tokens + reply.usage.completion_tokens,
        seconds=round(seconds, 3),
    )


def _judge(question: SqlQuestion, result: QueryResult | None, gold: Sequence[QueryResult]) -> Verdict:
    if result is None:
        return "failed"
    right = any(same_result(item, result, ordered=question.ordered) for item in gold)
    return "right" if right else "wrong"


def summarise_sql(scores: Iterable[SqlScore]) -> list[dict[str, object]]:
    """One row a system: shares of the answerable questions, and the share of the others that were not answered.

    `regressions` are questions whose first statement was right and whose final one is not; `right_after_repair` those
    whose first statement was not.
    """
    listed = list(scores)
    rows: list[dict[str, object]] = []
    for system in dict.fromkeys(score.system for score in listed):
        own = [score for score in listed if score.system == system and score.answerable]
        foreign = [score for score in listed if score.system == system and not score.answerable]
        first, final = (Counter(getattr(score, name) for score in own) for name in ("first", "final"))
        count = len(own)
        row: dict[str, object] = {
            "system": system,
            "questions": count,
            "first_right": _share(first["right"], count),
            "first_failing": _share(first["failed"], count),
            "right": _share(final["right"], count),
            "holds_right": _share(sum(score.holds for score in own), count),
            "wrong": _share(final["wrong"], count),
            "failing": _share(final["failed"], count),
            "withheld": _share(final["withheld"], count),
            "right_after_repair": sum(score.final == "right" and score.first != "right" for score in own),
            "regressions": sum(score.first == "right" and score.final != "right" for score in own),
            "unanswerable": len(foreign),
            "abstained": _share(sum(score.final in ("withheld", "failed") for score in foreign), len(foreign)),
            "model_calls": _mean([float(score.model_calls) for score in own]),
            "seconds": _mean([score.seconds for score in own]),
        }
        rows.append(row)
    return rows


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 2) if values else None
