"""How an answer came about, in plain words, from its plan, outcomes and judgement. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rag_core.datamodel.answer import Claim, Usage
from rag_core.datamodel.evidence import Finding
from rag_core.datamodel.plan import Plan
from rag_core.workers.outcome import StepOutcome, latest


def explain(
    plan: Plan,
    outcomes: Sequence[StepOutcome],
    findings: Sequence[Finding],
    claims: Sequence[Claim],
    usage: Usage,
) -> str:
    """A few sentences: what was asked of which source, what was found, what was retried and why, what was removed."""
    sentences: list[str] = []
    if plan.reasoning:
        sentences.append(_sentence(plan.reasoning))
    by_step = {outcome.step_id: outcome for outcome in latest(tuple(outcomes))}
    for step in plan.steps:
        outcome = by_step.get(step.step_id)
        source = "The warehouse" if step.kind == "sql" else "The documents"
        sentences.append(f"{source} {'was' if step.kind == 'sql' else 'were'} asked for: {_quoted(step.task)}.")
        sentences.append(_found(outcome))
        sentences += _retries(step.step_id, outcomes)
    if plan.query_type == "both" and len(plan.steps) > 1:
        sentences.append("The figure and the text were put side by side; neither was changed to fit the other.")
    sentences += [_sentence(finding.message) for finding in findings if finding.severity != "info"]
    removed = [claim for claim in claims if not claim.supported]
    if claims:
        kept = len(claims) - len(removed)
        sentences.append(
            f"{kept} of {len(claims)} sentences were found in their sources"
            + (f"; {len(removed)} were removed, the first because {removed[0].reason}." if removed else ".")
        )
    sentences.append(
        f"A language model was called {usage.model_calls} times."
        if usage.model_calls > 1
        else "A language model was called once."
        if usage.model_calls
        else "No language model was used."
    )
    return " ".join(sentences)


def _found(outcome: StepOutcome | None) -> str:
    if outcome is None:
        return "It was not reached."
    if outcome.fault is not None:
        return f"This brought nothing: {_sentence(outcome.fault.message)}"
    if outcome.sql is not None:
        result = outcome.sql.result
        rows = "1 row" if result.row_count == 1 else f"{result.row_count:,} rows"
        tables = ", ".join(outcome.sql.tables)
        came = f"{rows} came back" + (f" from {tables}." if tables else ".")
        mended = f" The statement was mended without a model ({_short(outcome.repaired)})." if outcome.repaired else ""
        return came + mended + _agreement(outcome)
    if outcome.search is not None:
        if outcome.search.null_signal:
            return f"Nothing in the index answers that: {_sentence(outcome.search.reason or 'no passage is close')}"
        quoted = sum(1 for passage in outcome.search.passages if passage.quotes)
        return f"{len(outcome.search.passages)} passages were read and {quoted} of them quoted."
    return "It brought nothing."


def _agreement(outcome: StepOutcome) -> str:
    if outcome.agreeing > 1:
        return f" {outcome.agreeing} of {outcome.candidates} statements that a model wrote brought this."
    if outcome.candidates > 1:
        return f" {outcome.candidates} statements were written, no two brought the same, and this is the first one's."
    return ""


def _retries(step_id: str, outcomes: Sequence[StepOutcome]) -> list[str]:
    attempts = sorted((item for item in outcomes if item.step_id == step_id), key=lambda item: item.attempt)
    sentences = []
    for before, after in pairwise(attempts):
        if before.fault is None:
            continue
        how = f"mended without a model ({after.repaired})" if after.repaired else "tried again"
        sentences.append(
            f"Attempt {before.attempt} failed ({before.fault.code}: {_short(before.fault.message)}) and was {how}."
        )
    return sentences


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 160 else line[:157] + "..."


def _quoted(text: str) -> str:
    return _short(text).rstrip(".?!")


def _sentence(text: str) -> str:
    clean = _short(text)
    clean = clean[:1].upper() + clean[1:]
    return clean if clean.endswith((".", "!", "?")) else clean + "."
