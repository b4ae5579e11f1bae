"""Turns evidence into short cited sentences and tables. Pure; the evaluator judges what it says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rag_core.datamodel.answer import Citation, Claim
from rag_core.datamodel.base import Record
from rag_core.datamodel.evidence import Finding, Passage, SqlEvidence
from rag_core.datamodel.plan import MetricQuery
from rag_core.datamodel.query import Cell
from rag_core.workers.evidence_validator import document_day, is_superseded
from rag_core.workers.figures import FigureBlock, describe_result
from rag_core.workers.units import split_units

MAX_EXCERPT = 400
_WHICH_DOCUMENT = re.compile(
    r"\b(?:which|what) (?:\w+ )?(?:contracts?|agreements?|documents?|reports?|standards?|polic(?:y|ies)|runbooks?|"
    r"templates?|notices?|postmortems?)\b",
    re.IGNORECASE,
)


class Block(Record):
    """A paragraph of the answer: claims, then a table (Markdown, empty for none) that cites `table_marker`."""

    claims: tuple[Claim, ...] = ()
    table: str = ""
    table_marker: str = ""
    lead: str = ""


class Draft(Record):
    """An answer before it is judged. `notes` are said about the answer and are no claims about the world.

    `written` are those of its claims that a chat model wrote, `missing` what it found no answer to.
    """

    blocks: tuple[Block, ...] = ()
    written: tuple[Claim, ...] = ()
    missing: str = ""
    notes: tuple[str, ...] = ()
    headline_value: Cell = None
    headline_unit: str = ""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Every claim in order."""
        return tuple(claim for block in self.blocks for claim in block.claims)


def draft_answer(
    sql: Sequence[SqlEvidence],
    passages: Sequence[Passage],
    findings: Sequence[Finding],
    queries: Mapping[str, MetricQuery],
    spoken: Mapping[str, str] | None = None,
    question: str = "",
    covered: Mapping[str, str] | None = None,
) -> Draft:
    """A draft from results and quotes: figures first, then what documents say; nothing is inferred.

    Results that a finding of severity `error` names are left out. `queries` are the metric queries by step,
    `spoken` words for stored values, `covered` by step the period that a figure is of where its query does not say it.
    Where the question asks which document something stands in, each is named.
    """
    stopped = {finding.marker for finding in findings if finding.severity == "error"}
    blocks: list[Block] = []
    headline: FigureBlock | None = None
    for evidence in sql:
        if evidence.marker in stopped:
            continue
        figures = describe_result(
            evidence, queries.get(evidence.step_id), spoken, (covered or {}).get(evidence.step_id, "")
        )
        claims = tuple(Claim(text=text, markers=(evidence.marker,)) for text in figures.sentences)
        blocks.append(Block(claims=claims, table=figures.table, table_marker=evidence.marker if figures.table else ""))
        headline = headline or (figures if figures.headline_value is not None else None)
    blocks += document_blocks(passages, findings, named=bool(_WHICH_DOCUMENT.search(question)))
    notes = [finding.message for finding in findings if finding.severity != "info" and _is_note(finding)]
    return Draft(
        blocks=tuple(blocks),
        notes=tuple(notes),
        headline_value=headline.headline_value if headline else None,
        headline_unit=headline.headline_unit if headline else "",
    )


def _is_note(finding: Finding) -> bool:
    # Contradictions and superseded documents are told where they are quoted; an empty result ends elsewhere.
    return finding.code not in ("contradiction", "superseded", "empty")


def precedence(passage: Passage) -> tuple[int, int, str]:
    """Sort key (descending) of a document's authority: in force before superseded, rules before others, newer first."""
    return (
        0 if is_superseded(passage) else 1,
        1 if passage.document_type in ("standard", "policy", "regulation") else 0,
        document_day(passage),
    )


def order_passages(passages: Sequence[Passage], findings: Sequence[Finding]) -> tuple[Passage, ...]:
    """Quoted passages in the order they are said: by their best quote, but by authority where they contradict."""
    quoted = [passage for passage in passages if passage.quotes]
    disputed = any(finding.code in ("contradiction", "superseded") for finding in findings)
    if not disputed:
        return tuple(quoted)
    return tuple(sorted(quoted, key=precedence, reverse=True))


def document_blocks(passages: Sequence[Passage], findings: Sequence[Finding], *, named: bool = False) -> list[Block]:
    """What the quoted sentences say, each with its document.

    Several sources are told apart by title and date, with `named` always.
    """
    quoted = [passage for passage in passages if passage.quotes]
    disputed = [finding for finding in findings if finding.code == "contradiction"]
    if not quoted:
        return []
    lead = ""
    if disputed:
        lead = "The documents contradict each other: " + "; ".join(finding.message for finding in disputed) + "."
        if len({precedence(passage)[:2] for passage in quoted}) > 1:
            lead += " What is in force comes first."
        elif len({document_day(passage) for passage in quoted}) > 1:
            lead += " The newer one comes first."
    claims = []
    named = named or bool(disputed) or any(is_superseded(passage) for passage in quoted)
    for passage in quoted:
        shown = {unit.verbatim: unit.shown for unit in split_units(passage.text)}
        for quote in passage.quotes:
            text = shown.get(quote, quote)
            claims.append(Claim(text=_attributed(passage, text) if named else text, markers=(passage.marker,)))
    return [Block(claims=tuple(claims), lead=lead)]


def _attributed(passage: Passage, text: str) -> str:
    day = document_day(passage)
    state = "superseded" if is_superseded(passage) else ""
    about = ", ".join(part for part in (day, state) if part)
    return f"{passage.title}{f' ({about})' if about else ''}: {text}"


def compose(draft: Draft, supported: Sequence[Claim], extra_notes: Sequence[str] = ()) -> str:
    """Markdown of the answer: the claims that were found to be supported with their markers, tables and notes."""
    keep = {(claim.text, claim.markers) for claim in supported if claim.supported}
    parts: list[str] = []
    for block in draft.blocks:
        sentences = [
            f"{_ended(claim.text)} {' '.join(f'[{marker}]' for marker in claim.markers)}"
            for claim in block.claims
            if (claim.text, claim.markers) in keep
        ]
        if block.lead and sentences:
            sentences.insert(0, block.lead)
        if sentences:
            # Quotes of lists and rows read better one a line.
            parts.append(("\n\n" if len(sentences) > 3 else " ").join(sentences))
        if block.table:
            parts.append(f"{block.table}\n\nTable: [{block.table_marker}]")
    missing = (f"Not answered by the evidence: {draft.missing}",) if draft.missing else ()
    parts += [_ended(note[:1].upper() + note[1:]) for note in (*draft.notes, *missing, *extra_notes)]
    return "\n\n".join(parts)


def _ended(text: str) -> str:
    stripped = text.strip()
    return stripped if stripped.endswith((".", "!", "?", ":", '."')) else stripped + "."


def cite(sql: Sequence[SqlEvidence], passages: Sequence[Passage], used: Sequence[str]) -> tuple[Citation, ...]:
    """The citations of the markers used, in the order S1, S2, ..., D1, D2, ..."""
    citations = [
        Citation(marker=evidence.marker, kind="sql", ref=evidence.sql, excerpt=_rows_excerpt(evidence))
        for evidence in sql
        if evidence.marker in used
    ]
    for passage in passages:
        if passage.marker in used:
            heading = " > ".join(passage.heading_path)
            excerpt = " ".join(passage.quotes) or passage.text
            citations.append(
                Citation(
                    marker=passage.marker,
                    kind="document",
                    ref=passage.path + (f"#{heading}" if heading else ""),
                    excerpt=_cut(excerpt),
                )
            )
    return tuple(citations)


def _rows_excerpt(evidence: SqlEvidence) -> str:
    names = [column.name for column in evidence.result.columns]
    shown = [
        "; ".join(f"{name} = {cell}" for name, cell in zip(names, row, strict=True)) for row in evidence.result.rows[:3]
    ]
    return _cut(" | ".join(shown))


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_EXCERPT else flat[: MAX_EXCERPT - 3].rstrip() + "..."
