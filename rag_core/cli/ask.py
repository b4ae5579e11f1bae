"""`nightshift ask`: one question, answered now."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.markdown import Markdown
from rich.table import Table

from rag_core.batch.file import check_text
from rag_core.batch.manual import MAX_QUESTION_CHARACTERS
from rag_core.cli.output import JsonOption, console, emit
from rag_core.datamodel.answer import Answer
from rag_core.datamodel.evidence import Passage, SqlEvidence
from rag_core.errors import ConfigurationError

STRATEGIES = ("auto", "replay", "metric", "verified", "model", "decomposed")
# A status that is an honest end of a good run; the others name something that failed.
GOOD = ("answered", "partial", "no_evidence")


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("ask", help="Answer one question, with citations.")(ask)


def ask(
    question: Annotated[str, typer.Argument(help="The question, in plain words")],
    strategy: Annotated[str, typer.Option(help=f"One of {', '.join(STRATEGIES)}")] = "auto",
    date: Annotated[str | None, typer.Option(help="Day that relative times refer to (YYYY-MM-DD)")] = None,
    as_json: JsonOption = False,
) -> None:
    """Answers one question and prints it with its citations and how it came about."""
    if strategy not in STRATEGIES:
        raise ConfigurationError(f"unknown strategy {strategy!r}: use {', '.join(STRATEGIES)}")
    check_question(question)
    from rag_core.wiring import open_services  # noqa: PLC0415 - a wrong argument must not start anything

    with open_services() as services:
        answer = services.orchestrator.answer(question, run_date=services.run_date(date), strategy=strategy)
    emit(to_contract(answer), as_json=as_json, render=lambda: render(answer))
    if answer.status not in GOOD:
        raise typer.Exit(1)


def check_question(question: str) -> None:
    """Raises ConfigurationError with one line where a text is no question; the same bounds hold for batches."""
    if not question.strip():
        raise ConfigurationError("the question is empty")
    if len(question) > MAX_QUESTION_CHARACTERS:
        raise ConfigurationError(
            f"the question has {len(question)} characters; at most {MAX_QUESTION_CHARACTERS} are allowed"
        )
    try:
        check_text(question)
    except ValueError as error:
        raise ConfigurationError(f"the question: {error}") from None


def to_contract(answer: Answer) -> dict[str, Any]:
    """The answer with the field names of the command line's contract."""
    return {
        "question": answer.question,
        "run_date": answer.run_date,
        "status": answer.status,
        "answer": answer.text,
        "headline": {"value": answer.headline_value, "unit": answer.headline_unit},
        "strategy": answer.strategy,
        "query_type": answer.query_type,
        "citations": answer.citations,
        "claims": answer.claims,
        "sql": [_sql(evidence) for evidence in answer.sql],
        "documents": [_document(passage) for passage in answer.documents],
        "findings": answer.findings,
        "verdict": answer.verdict,
        "explanation": answer.explanation,
        "usage": answer.usage,
        "timings_ms": answer.timings_ms,
        "plan_id": answer.plan_id,
        "run_id": answer.run_id,
        "trace": answer.trace,
    }


def _sql(evidence: SqlEvidence) -> dict[str, Any]:
    return {
        "marker": evidence.marker,
        "task": evidence.task,
        "text": evidence.sql,
        "columns": [{"name": column.name, "type": column.type} for column in evidence.result.columns],
        "rows": evidence.result.rows,
        "row_count": evidence.result.row_count,
        "truncated_by": evidence.result.truncated_by,
        "tables": evidence.tables,
        "confidence": evidence.confidence,
    }


def _document(passage: Passage) -> dict[str, Any]:
    return {
        "marker": passage.marker,
        "chunk_id": passage.chunk_id,
        "document_id": passage.document_id,
        "path": passage.path,
        "title": passage.title,
        "document_type": passage.document_type,
        "heading_path": passage.heading_path,
        "page": passage.page,
        "quotes": passage.quotes,
        "text": passage.text,
        "scores": passage.scores,
    }


def render(answer: Answer) -> None:
    """The answer for people: text with tables, citations, how it came about."""
    console.print(f"[bold]{answer.status.replace('_', ' ')}[/bold] · as of {answer.run_date.isoformat()}")
    console.print(Markdown(answer.text))
    if answer.citations:
        table = Table("", "Source", "Excerpt", box=None, pad_edge=False, show_header=False)
        for citation in answer.citations:
            source = "warehouse" if citation.kind == "sql" else citation.ref
            table.add_row(f"[{citation.marker}]".replace("[", "\\["), source, citation.excerpt)
        console.print()
        console.print(table)
    for evidence in answer.sql:
        console.print()
        console.print(f"{evidence.marker} ran:", style="dim")
        console.print(evidence.sql, style="dim", markup=False, highlight=False)
    console.print()
    console.print(answer.explanation, style="italic", markup=False, highlight=False)
