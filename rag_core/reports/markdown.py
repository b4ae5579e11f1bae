"""A run as one Markdown file, for mails, chats and diffs. Pure; data in it can start neither HTML nor a link."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_core.reports.bundle import AnsweredQuestion, History, PastValue, RunBundle
from rag_core.reports.numbers import describe_change, format_value
from rag_core.reports.rows import heading_of, headline_row
from rag_core.reports.titles import count_states, title_of

_SPECIAL = re.compile(r"([\\`*_{}\[\]#|~])")
# A quoted passage longer than this is cut: the HTML report and the document itself have the whole.
MAX_QUOTE = 600


def render_markdown(bundle: RunBundle, history: History) -> str:
    """The report as Markdown; `history` holds earlier headline values by question, oldest first."""
    return "\n".join(_lines(bundle, history)).rstrip() + "\n"


def plain_line(text: str) -> str:
    """A text as one line in which Markdown and HTML mean nothing."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split())).replace("<", "&lt;").replace("://", ":\u200b//")


def harmless(markdown: str) -> str:
    """Markdown that keeps its tables and emphasis, but starts neither HTML nor a link nor an image."""
    return markdown.replace("<", "&lt;").replace("](", "]\\(").replace("]:", "]\\:")


def _lines(bundle: RunBundle, history: History) -> Iterator[str]:
    batch = bundle.batch
    yield f"# {plain_line(batch.title)}"
    yield ""
    yield f"As of {bundle.run_date.isoformat()} · owner {plain_line(batch.owner)}"
    yield ""
    found = count_states((item.outcome.state, item.answer.status) for item in bundle.items)
    counts = ", ".join(f"{count} {words}" for _, count, words in found)
    yield f"{len(bundle.items)} question{'' if len(bundle.items) == 1 else 's'}: {counts}."
    yield ""
    for item in bundle.items:
        yield from _question_lines(item, history.get(item.question.question_id, ()))
    yield "---"
    yield ""
    yield f"Run {bundle.run_id}, finished {bundle.finished_at:%Y-%m-%d %H:%M} UTC."


def _question_lines(item: AnsweredQuestion, past: tuple[PastValue, ...]) -> Iterator[str]:
    answer, outcome = item.answer, item.outcome
    title, asked = heading_of(item.question, answer.question)
    yield f"## {plain_line(title)}"
    yield ""
    if asked:
        yield f"*{plain_line(asked)}*"
        yield ""
    yield f"**{title_of(outcome.state, answer.status)}**" + _headline(item, past)
    yield ""
    if outcome.state == "quarantined":
        # A mail must not spread what the checks kept back; the HTML report shows it to whoever decides.
        yield f"Kept back: {plain_line(outcome.reason)}"
        yield ""
        if past:
            yield f"The last published answer is of {past[-1].run_date.isoformat()}."
            yield ""
        return
    yield harmless(answer.text)
    yield ""
    passages = {passage.marker: passage for passage in answer.documents}
    for citation in answer.citations:
        if citation.kind == "document":
            passage = passages.get(citation.marker)
            title = passage.title if passage is not None else citation.ref
            yield f"- \\[{citation.marker}\\] {plain_line(title)}, {plain_line(citation.ref)}:"
            yield f"  > {plain_line(citation.excerpt[:MAX_QUOTE])}"
        else:
            yield f"- \\[{citation.marker}\\] `{' '.join(citation.ref.replace('`', ' ').split())}`"
    if answer.citations:
        yield ""
    failed = [check for check in outcome.checks if check.verdict in ("fail", "error")]
    for check in failed:
        yield f"- Check {plain_line(check.check_id)} ({check.severity}): {check.verdict}. {plain_line(check.message)}"
    if failed:
        yield ""


def _headline(item: AnsweredQuestion, past: tuple[PastValue, ...]) -> str:
    answer = item.answer
    if answer.headline_value is None or item.outcome.state != "published":
        return ""
    row = headline_row(item.question, answer.sql)
    text = f" · {plain_line(format_value(answer.headline_value, unit=answer.headline_unit))}"
    text += f" – {plain_line(row)}" if row else ""
    change = describe_change(answer.headline_value, past[-1].value) if past else None
    return f"{text} ({change} since {past[-1].run_date.isoformat()})" if change else text
