"""Has a chat model say what the evidence shows; the evaluator decides what of it stays."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from rag_core.connectors.base import ChatModel
from rag_core.datamodel.answer import Claim, Usage
from rag_core.datamodel.evidence import Passage, SqlEvidence
from rag_core.prompts.loader import fence, load_prompt
from rag_core.workers.evidence_validator import document_day, is_superseded
from rag_core.workers.figure_words import column_meanings, show_cell
from rag_core.workers.synthesizer import Block, Draft

MAX_ROWS = 20
MAX_PASSAGE_CHARACTERS = 1_200
MAX_CLAIMS = 6


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
    """The draft with the model's claims in place of the code's; tables and headline stay the code's.

    Raises ModelFault, ServiceUnavailable.
    """
    prompt = load_prompt("write_answer")
    evidence = "\n".join([*(_render_result(item) for item in sql), *(_render_passage(item) for item in passages)])
    user = prompt.render({"question": fence("question", question), "evidence": evidence, "feedback": feedback})
    written, usage = model.complete(prompt.system, user, WrittenAnswer)
    known = {item.marker for item in sql} | {item.marker for item in passages}
    claims = tuple(
        Claim(text=_clean(claim.text, known), markers=_markers(claim))
        for claim in written.claims[:MAX_CLAIMS]
        if claim.text.strip()
    )
    tables = tuple(block.model_copy(update={"claims": (), "lead": ""}) for block in draft.blocks if block.table)
    leads = " ".join(block.lead for block in draft.blocks if block.lead)
    missing = written.missing.strip()
    silent = missing.lower().rstrip(".") in ("", "none", "nothing", "n/a", "empty")
    notes = (*draft.notes, *(() if silent else (f"Not answered by the evidence: {missing}",)))
    return draft.model_copy(update={"blocks": (Block(claims=claims, lead=leads), *tables), "notes": notes}), usage


def _markers(claim: WrittenClaim) -> tuple[str, ...]:
    return tuple(dict.fromkeys(marker.strip(" []") for marker in claim.markers if marker.strip(" []")))


def _clean(text: str, known: set[str]) -> str:
    flat = " ".join(text.split())
    for marker in sorted(known):
        flat = flat.replace(f"[{marker}]", "").replace(f"({marker})", "")
    return " ".join(flat.split()).replace(" .", ".")


def _render_result(evidence: SqlEvidence) -> str:
    meanings = column_meanings(evidence)
    lines = [" | ".join(f"{item.label}{f' ({item.unit})' if item.unit else ''}" for item in meanings)]
    for row in evidence.result.rows[:MAX_ROWS]:
        lines.append(" | ".join(show_cell(cell, meaning) for cell, meaning in zip(row, meanings, strict=True)))
    if evidence.result.row_count > MAX_ROWS:
        lines.append(f"... {evidence.result.row_count} rows in all")
    return f"[{evidence.marker}] result for: {evidence.task}\n{fence('rows', chr(10).join(lines))}"


def _render_passage(passage: Passage) -> str:
    state = ", superseded" if is_superseded(passage) else ""
    head = f"[{passage.marker}] {passage.title} ({document_day(passage) or 'no date'}{state})"
    return f"{head}\n{fence('document', passage.text[:MAX_PASSAGE_CHARACTERS])}"
