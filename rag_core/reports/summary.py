"""A run in a few lines, for a mail's body and a chat's message. Pure."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from rag_core.datamodel.base import Record
from rag_core.datamodel.question import Batch
from rag_core.datamodel.report import BatchOutcome, QuestionOutcome
from rag_core.reports.rows import clean_text, plain_title
from rag_core.reports.titles import count_states, count_words, title_of

MAX_LINES = 60
MAX_ANSWER = 220
_MARKER = re.compile(r"\s*\[[SD]\d+\]")
_MARKDOWN = re.compile(r"[*_`|#]+")


class SummaryLine(Record):
    """One question: its title, what became of it, and its answer or the reason why there is none."""

    question_id: str
    title: str
    state: str
    answer: str


class RunSummary(Record):
    """What a message says. `text` and `html` say the same; both hold data only as text."""

    subject: str
    lead: str
    lines: tuple[SummaryLine, ...]
    left_out: int = 0

    def text(self) -> str:
        """The message as plain text."""
        parts = [self.lead, ""]
        for line in self.lines:
            parts += [f"- {line.title} [{line.state}]", f"  {line.answer}"]
        return "\n".join([*parts, *self._rest()]) + "\n"

    def html(self) -> str:
        """The message as HTML that any mail program shows."""
        rows = "".join(
            f'<tr><td style="padding:4px 12px 4px 0;vertical-align:top"><b>{escape(line.title)}</b></td>'
            f'<td style="padding:4px 12px 4px 0;vertical-align:top">{escape(line.answer)}</td>'
            f'<td style="padding:4px 0;vertical-align:top">{escape(line.state)}</td></tr>'
            for line in self.lines
        )
        head = "".join(f'<th align="left">{name}</th>' for name in ("Question", "Answer", "State"))
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        rest = "".join(f"<p>{escape(part)}</p>" for part in self._rest())
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(self.subject)}</title></head>'
            f'<body style="font-family:sans-serif;font-size:14px"><p>{escape(self.lead)}</p>'
            f"{table if rows else ''}{rest}</body></html>"
        )

    def payload(self, outcome: BatchOutcome) -> dict[str, Any]:
        """The message as JSON for a webhook; `text` is what chat services show."""
        return {
            "event": "batch.finished",
            "text": f"{self.subject}\n{self.text()}",
            "subject": self.subject,
            "questions": [line.model_dump() for line in self.lines],
            **outcome.model_dump(mode="json", exclude={"questions"}),
        }

    def _rest(self) -> list[str]:
        return [f"{self.left_out} more questions are in the report."] if self.left_out else []


def in_trouble(outcome: BatchOutcome) -> bool:
    """Whether anything of the run needs a person: a failed, kept back or unanswered question."""
    return bool(outcome.failed or outcome.quarantined or outcome.needs_model)


def summarise_run(batch: Batch, outcome: BatchOutcome) -> RunSummary:
    """The run's summary; troubled questions come first. What the checks kept back is named, never shown."""
    titles = {question.question_id: plain_title(question) for question in batch.questions}
    ordered = sorted(outcome.questions, key=lambda item: item.state == "published")
    counts = _counts(outcome)
    lines = tuple(
        SummaryLine(
            question_id=item.question_id,
            title=_line(titles.get(item.question_id, item.question_id)),
            state=title_of(item.state, item.status),
            answer=_answer(item),
        )
        for item in ordered[:MAX_LINES]
    )
    day = outcome.run_date.isoformat()
    return RunSummary(
        subject=_line(f"{batch.title}, {day}: {counts or 'no question'}"),
        lead=f"{_line(batch.title)} as of {day}: {counts}. Model calls: {outcome.usage.model_calls}.",
        lines=lines,
        left_out=max(0, len(ordered) - MAX_LINES),
    )


def _counts(outcome: BatchOutcome) -> str:
    """`0 of 2 published, 1 kept back, 1 needs a chat model`; where all was published, only how many."""
    found = count_states((item.state, item.status) for item in outcome.questions)
    if any(state != "published" for state, _, _ in found):
        published = [words for state, _, words in found if state == "published"] or [count_words("published", 0)]
        whole = [f"{outcome.published} of {len(outcome.questions)} {published[0]}"]
        return ", ".join(whole + [f"{count} {words}" for state, count, words in found if state != "published"])
    return ", ".join(f"{count} {words}" for _, count, words in found)


def describe_late_run(batch: Batch, *, minutes: int, run_id: str) -> RunSummary:
    """What is said of a run that has not ended by its deadline."""
    title = _line(batch.title)
    which = f" ({_line(run_id)})" if run_id else ""
    lead = f"{title}: the run{which} has not ended {minutes} minutes after its start. {batch.owner} answers for it."
    return RunSummary(subject=f"{title} is late", lead=lead, lines=())


def _answer(item: QuestionOutcome) -> str:
    if item.state == "quarantined":
        return f"Kept back: {_line(item.reason)}"
    text = item.answer.strip() or item.reason
    return _line(_MARKDOWN.sub("", _MARKER.sub("", re.split(r"\n\s*\n", text)[0])))


def _line(text: str) -> str:
    line = " ".join(clean_text(text).split())
    return line if len(line) <= MAX_ANSWER else f"{line[: MAX_ANSWER - 1]}…"
