"""Records of the library as the templates read them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import ndiff
from typing import Any

from cron_descriptor import (  # type: ignore[import-untyped]  # Airflow brings it
    FormatException,
    Options,
    get_description,
)
from markupsafe import Markup

from nightshift_airflow.defaults import BatchFile, BrokenBatchFile
from rag_core.batch.manual import MANUAL_BATCH
from rag_core.batch.records import AnswerRecord, RunHead, RunQuestion
from rag_core.datamodel.drift import Change
from rag_core.datamodel.evidence import SqlEvidence
from rag_core.datamodel.report import QuestionOutcome
from rag_core.reports.bundle import AnsweredQuestion, Review
from rag_core.reports.charts import ChartSpec, choose_chart, describe_chart
from rag_core.reports.numbers import describe_change, format_value
from rag_core.reports.render import question_view
from rag_core.reports.titles import count_words, title_of

# An alignment that Markdown gives a cell comes as a style, which the page forbids; as a class it means the same.
_ALIGNED = ((' style="text-align:right"', ' class="number"'), (' style="text-align:left"', ""))


@dataclass(frozen=True)
class BatchCard:
    """A batch of the folder, or one that ran once, with its last run; `problem` says why it cannot run."""

    batch: str
    title: str
    owner: str
    schedule: str
    last: RunHead | None
    problem: str = ""


def batch_cards(
    files: Iterable[BatchFile], runs: Sequence[RunHead], broken: Iterable[BrokenBatchFile] = ()
) -> list[BatchCard]:
    """A card for each batch, with the run of it that started last; `runs` are newest first.

    A broken file has a card of its own, named after its last run or the file: what it says itself is not relied on.
    One that is named as no batch can be has none.
    """
    last: dict[str, RunHead] = {}
    for run in runs:
        last.setdefault(run.batch, run)
    cards = {
        file.batch: BatchCard(
            batch=file.batch,
            title=file.title,
            owner=file.owner,
            schedule=describe_schedule(file.schedule, file.timezone),
            last=last.get(file.batch),
        )
        for file in files
    }
    for damaged in broken:
        if damaged.batch is None:
            continue
        before = last.get(damaged.batch)
        cards[damaged.batch] = BatchCard(
            batch=damaged.batch,
            title=before.title if before is not None else damaged.batch,
            owner=before.owner if before is not None else "",
            schedule="not scheduled",
            last=before,
            problem=damaged.problem,
        )
    for batch, run in last.items():
        if batch not in cards and batch != MANUAL_BATCH:
            cards[batch] = BatchCard(
                batch=batch, title=run.title, owner=run.owner, schedule="no file any more", last=run
            )
    return list(cards.values())


def describe_schedule(cron: str | None, timezone: str) -> str:
    """When a batch runs, in words; a text that is no cron text as it stands."""
    if not cron:
        return "by hand"
    options = Options()
    options.use_24hour_time_format = True
    options.verbose = False
    try:
        return f"{get_description(cron, options)}, {timezone}"
    except FormatException:
        return f"{cron}, {timezone}"


def run_badge(run: RunHead) -> tuple[str, str]:
    """Class and words for the state of a run, by the worst that happened in it."""
    if run.state == "failed":
        return "failed", "Failed"
    if run.state == "running":
        return "running", f"Running, {run.answered} of {run.questions}"
    if run.outcome.get("failed"):
        return "failed", f"{run.outcome['failed']} failed"
    if run.outcome.get("quarantined"):
        return "quarantined", f"{run.outcome['quarantined']} kept back"
    if run.outcome.get("needs_model"):
        return "needs_model", f"{run.outcome['needs_model']} {count_words('needs_model', run.outcome['needs_model'])}"
    return "answered", "Done"


def run_counts(run: RunHead) -> str:
    """What came of a run in a line: `0 of 2 answers published, 1 kept back, 1 needs a chat model`."""
    if run.outcome.get("published") is None:
        return f"{run.answered} of {run.questions} questions answered"
    others = [
        f"{run.outcome[state]} {count_words(state, run.outcome[state])}"
        for state in ("quarantined", "failed", "needs_model")
        if run.outcome.get(state)
    ]
    return ", ".join([f"{run.outcome['published']} of {run.questions} answers published", *others])


def question_badge(question: RunQuestion) -> tuple[str, str]:
    """Class and words for a question of a run."""
    if question.status is None:
        return "running", "Not answered yet"
    state = question.state or "published"
    return question.status if state == "published" else state, title_of(state, question.status)


def headline_of(question: RunQuestion) -> str:
    """The value of a question of a run with its unit, empty where it has none."""
    if question.headline_value is None or question.state != "published":
        return ""
    return _whole(question.headline_value, question.headline_unit)


def summary_of(question: RunQuestion) -> str:
    """A question's answer in a line, or why there is none to be shown."""
    if question.state == "quarantined":
        return f"Kept back: {question.reason}"
    first = question.answer.strip().split("\n\n")[0]
    for marker in [f"[{kind}{number}]" for kind in "SD" for number in range(1, 20)]:
        first = first.replace(f" {marker}", "").replace(marker, "")
    return first


def answer_view(record: AnswerRecord) -> dict[str, Any]:
    """An answer as the report shows it, without its charts; those are pictures of their own."""
    answer = record.answer
    assert answer is not None
    outcome = QuestionOutcome(
        question_id=record.question.question_id,
        status=answer.status,
        strategy=answer.strategy,
        # What was not judged is shown as what it is: an answer.
        state=record.state or "published",
        answer=answer.text,
        headline_value=answer.headline_value,
        checks=record.checks,
        reason=record.reason,
    )
    item = AnsweredQuestion(question=record.question, answer=answer, outcome=outcome, review=_review(record))
    view = question_view(item, record.history, draw=False)
    body = str(view["body"])
    for style, word in _ALIGNED:
        body = body.replace(style, word)
    charts = [
        {"marker": evidence.marker, "text": describe_chart(spec)}
        for evidence in answer.sql
        if (spec := choose_chart(evidence, record.question.chart)) is not None
    ]
    return {
        **view,
        "body": Markup(body),
        "charts": charts,
        "history": _history(record),
        "valued": any(past.value is not None for past in record.history),
    }


def find_chart(record: AnswerRecord, marker: str) -> ChartSpec | None:
    """What to draw for one piece of evidence, None where there is nothing."""
    found: SqlEvidence | None = None
    if record.answer is not None:
        found = next((evidence for evidence in record.answer.sql if evidence.marker == marker), None)
    return choose_chart(found, record.question.chart) if found is not None else None


def diff_lines(before: str, now: str) -> list[str]:
    """Two texts as lines, each marked with `-` (before), `+` (now) or a space (both)."""
    return [line for line in ndiff(before.splitlines(), now.splitlines()) if not line.startswith("?")]


def hurt_names(change: Change) -> list[str]:
    """Whom a change touches, each named once: questions before metrics, and plans only where they have no question."""
    names = [item.question_id or item.metric or item.id or item.plan_id or "" for item in change.affected]
    return [name for name in dict.fromkeys(names) if name]


def _review(record: AnswerRecord) -> Review | None:
    if record.review is None or record.reviewed_at is None:
        return None
    return Review(
        decision="released" if record.review == "released" else "rejected",
        reviewed_by=record.reviewed_by or "",
        reviewed_at=record.reviewed_at,
        note=record.review_note or "",
    )


def _history(record: AnswerRecord) -> list[dict[str, Any]]:
    """Earlier published values, newest first, each with its change from the one before it."""
    rows: list[dict[str, Any]] = []
    before: Any = None
    for past in record.history:
        rows.append(
            {
                "run_date": past.run_date,
                "value": _whole(past.value, past.unit) if past.value is not None else "–",
                "row_count": past.row_count,
                "change": describe_change(past.value, before) or "",
            }
        )
        before = past.value
    return rows[::-1]


def _whole(value: Any, unit: str) -> str:
    """A value with the decimals that it was kept with, two at most: of an amount no cent is left out."""
    exponent = value.as_tuple().exponent if isinstance(value, Decimal) else None
    decimals = min(2, -exponent) if isinstance(exponent, int) and exponent < 0 else None
    return format_value(value, decimals=decimals, unit=unit)
