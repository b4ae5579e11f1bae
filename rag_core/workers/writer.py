"""Has a chat model say what the evidence shows; the evaluator decides what of it stays.

Asking a model loses nothing: the sentences that code would have said without it stay where it says them in no words
that hold. Only what rests on a statement that a model wrote is left to the model.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pydantic import BaseModel, Field

from rag_core.connectors.base import ChatModel
from rag_core.datamodel.answer import Claim, Usage
from rag_core.datamodel.evidence import Passage, SqlEvidence
from rag_core.prompts.loader import fence, load_prompt
from rag_core.workers.evaluator import judge_claim
from rag_core.workers.evidence_validator import document_day, is_superseded
from rag_core.workers.figure_words import column_meanings, show_cell
from rag_core.workers.synthesizer import Block, Draft
from rag_core.workers.words import content_words, overlap

MAX_ROWS = 20
MAX_PASSAGE_CHARACTERS = 1_200
MAX_CLAIMS = 6
# Of a sentence's words, the share that the model's sentences on the same source hold where they say it too.
MIN_SAID = 0.75


class WrittenClaim(BaseModel):
    """One sentence with its markers."""

    text: str = Field(description="One sentence")
    markers: list[str] = Field(description="Markers of its evidence, such as S1 or D2")


class WrittenAnswer(BaseModel):
    """The answer as claims."""

    claims: list[WrittenClaim]
    missing: str = Field(description="What the evidence does not answer, or empty")


def write_draft(
    model: ChatModel,
    question: str,
    sql: Sequence[SqlEvidence],
    passages: Sequence[Passage],
    draft: Draft,
    feedback: str = "",
) -> tuple[Draft, Usage]:
    """The model's claims, then those of the draft that it left out; tables and headline stay the code's.

    Raises ModelFault, ServiceUnavailable.
    """
    prompt = load_prompt("write_answer")
    evidence = "\n".join([*(_render_result(item) for item in sql), *(render_passage(item) for item in passages)])
    user = prompt.render({"question": fence("question", question), "evidence": evidence, "feedback": feedback})
    written, usage = model.complete(prompt.system, user, WrittenAnswer)
    by_model = draft_written(written, sql, passages)
    by_marker, by_passage = {item.marker: item for item in sql}, {item.marker: item for item in passages}
    held = [claim for claim in by_model.claims if judge_claim(claim, by_marker, by_passage, question).supported]
    left = {item.marker for item in sql if item.strategy == "model"}
    rest = [
        block.model_copy(update={"claims": kept, "lead": block.lead if kept else ""})
        for block, kept in ((block, _unsaid(block.claims, held, left)) for block in draft.blocks)
        if kept or block.table
    ]
    told = {block.lead for block in rest}
    lead = " ".join(block.lead for block in draft.blocks if block.lead and block.lead not in told)
    first = [block.model_copy(update={"lead": lead}) for block in by_model.blocks]
    changed = {"blocks": (*first, *rest), "written": by_model.written, "missing": by_model.missing}
    return draft.model_copy(update=changed), usage


def draft_written(written: WrittenAnswer, sql: Sequence[SqlEvidence], passages: Sequence[Passage]) -> Draft:
    """What a model wrote over this evidence as a draft; a sentence that it repeats is said once."""
    known = {item.marker for item in sql} | {item.marker for item in passages}
    claims: dict[str, Claim] = {}
    for claim in written.claims:
        text = _clean(claim.text, known)
        if text:
            claims.setdefault(text.lower(), Claim(text=text, markers=_markers(claim)))
    said = tuple(claims.values())[:MAX_CLAIMS]
    missing = written.missing.strip()
    silent = missing.lower().rstrip(".") in ("", "none", "nothing", "n/a", "empty")
    return Draft(blocks=(Block(claims=said),), written=said, missing="" if silent else missing)


def _unsaid(claims: Sequence[Claim], held: Sequence[Claim], left: Collection[str]) -> tuple[Claim, ...]:
    """The claims of code that none of the model's that hold says; those that cite one of `left` are left out."""
    return tuple(claim for claim in claims if not set(claim.markers) & set(left) and not _is_said(claim, held))


def _is_said(claim: Claim, held: Sequence[Claim]) -> bool:
    wanted = content_words(claim.text)
    heard = [word for other in held if set(other.markers) & set(claim.markers) for word in content_words(other.text)]
    figures = {word for word in wanted if any(sign.isdigit() for sign in word)}
    return bool(heard) and figures <= set(heard) and overlap(wanted, heard) >= MIN_SAID


def _markers(claim: WrittenClaim) -> tuple[str, ...]:
    return tuple(dict.fromkeys(marker.strip(" []") for marker in claim.markers if marker.strip(" []")))


def _clean(text: str, known: set[str]) -> str:
    flat = " ".join(text.split())
    for marker in sorted(known):
        flat = flat.replace(f"[{marker}]", "").replace(f"({marker})", "")
    return " ".join(flat.split()).replace(" .", ".")


def _render_result(evidence: SqlEvidence) -> str:
    return f"[{evidence.marker}] result for: {evidence.task}\n{fence('rows', render_rows(evidence))}"


def render_rows(evidence: SqlEvidence) -> str:
    """A result as lines of cells, the first of them its columns; at most MAX_ROWS rows."""
    meanings = column_meanings(evidence)
    lines = [" | ".join(f"{item.label}{f' ({item.unit})' if item.unit else ''}" for item in meanings)]
    for row in evidence.result.rows[:MAX_ROWS]:
        lines.append(" | ".join(show_cell(cell, meaning) for cell, meaning in zip(row, meanings, strict=True)))
    if evidence.result.row_count > MAX_ROWS:
        lines.append(f"... {evidence.result.row_count} rows in all")
    return "\n".join(lines)


def render_passage(passage: Passage) -> str:
    """A passage as data under its marker, title, date and status."""
    state = ", superseded" if is_superseded(passage) else ""
    head = f"[{passage.marker}] {passage.title} ({document_day(passage) or 'no date'}{state})"
    return f"{head}\n{fence('document', passage.text[:MAX_PASSAGE_CHARACTERS])}"
