"""`nightshift search`: the best passages of the documents for a text in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any

import typer

from rag_core.cli.output import JsonOption, console, emit
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.evidence import SearchOutcome
from rag_core.errors import ConfigurationError
from rag_core.reports.markup import plain_excerpt
from rag_core.wiring import open_services

# A passage is shown by its quotes, else by its beginning; characters.
MAX_EXCERPT = 400
# Of more keys only so many are named.
MAX_KEYS = 30


def register(app: typer.Typer) -> None:
    """Adds the command to the command line."""

    @app.command()
    def search(
        text: Annotated[str, typer.Argument(help="What to look for, in plain words.", show_default=False)],
        top: Annotated[int, typer.Option("--top", help="Number of passages wanted.", min=1, max=1000)] = 8,
        where: Annotated[
            list[str] | None,
            typer.Option("--where", metavar="KEY=VALUE", help="Only documents with this metadata. May be repeated."),
        ] = None,
        mode: Annotated[str, typer.Option("--mode", help="hybrid, dense or bm25.")] = "hybrid",
        recency_half_life: Annotated[
            float | None,
            typer.Option("--recency-half-life", metavar="DAYS", help="Age at which a document counts half."),
        ] = None,
        as_json: JsonOption = False,
    ) -> None:
        """Find passages in the documents."""
        filters = parse_filters(where or [])
        with open_services() as services:
            check_keys(filters, known_keys(services.store) if filters else ())
            outcome = services.search.search(
                text, top=top, filters=filters or None, mode=mode, recency_half_life_days=recency_half_life
            )
        emit(describe_outcome(outcome), as_json=as_json, render=lambda: _render(outcome))


def parse_filters(where: list[str]) -> dict[str, str]:
    """`KEY=VALUE` texts as a mapping; raises ConfigurationError where one is no pair or names a key twice."""
    filters: dict[str, str] = {}
    for item in where:
        key, separator, value = item.partition("=")
        key, value = key.strip(), value.strip()
        if not separator or not key or not value:
            raise ConfigurationError(f"--where {item!r} is not of the form KEY=VALUE")
        if key in filters:
            raise ConfigurationError(f"--where names {key!r} twice: a document has to fit all filters")
        filters[key] = value
    return filters


def known_keys(store: Store) -> tuple[str, ...]:
    """The keys of metadata that any document has, in alphabetical order."""
    with store.connection() as connection:
        return tuple(row[0] for row in connection.execute(statement("search/list_attribute_names")).fetchall())


def check_keys(filters: Mapping[str, str], known: Sequence[str]) -> None:
    """Raises ConfigurationError with one line where a filter's key is none of any document's: nothing could fit it."""
    for key in filters:
        if known and key not in known:
            near = get_close_matches(key, known, n=1, cutoff=0.6)
            guess = f" (did you mean {near[0]}?)" if near else ""
            more = f" and {len(known) - MAX_KEYS} more" if len(known) > MAX_KEYS else ""
            raise ConfigurationError(
                f"--where: no document has the key {key}{guess}; there are {', '.join(known[:MAX_KEYS])}{more}"
            )


def describe_outcome(outcome: SearchOutcome) -> dict[str, Any]:
    """The JSON object of the command."""
    return {
        "query": outcome.query,
        "null_signal": outcome.null_signal,
        "reason": outcome.reason,
        "ambiguous": outcome.ambiguous,
        "results": [
            {
                "rank": passage.rank,
                "chunk_id": passage.chunk_id,
                "document_id": passage.document_id,
                "path": passage.path,
                "title": passage.title,
                "document_type": passage.document_type,
                "heading_path": passage.heading_path,
                "page": passage.page,
                "text": passage.text,
                "quotes": passage.quotes,
                "metadata": passage.metadata,
                "scores": passage.scores,
            }
            for passage in outcome.passages
        ],
        "detail": outcome.detail,
    }


def _render(outcome: SearchOutcome) -> None:
    if outcome.null_signal:
        console.print(f"Nothing in the documents answers this: {outcome.reason}.", markup=False)
        return
    if outcome.ambiguous:
        console.print(f"Ambiguous: {outcome.reason}", style="yellow", markup=False)
    for passage in outcome.passages:
        place = " > ".join(passage.heading_path)
        page = f", page {passage.page}" if passage.page else ""
        kind = f" [{passage.document_type}]" if passage.document_type else ""
        console.print(f"{passage.rank}. {passage.title}{kind}", style="bold", markup=False)
        console.print(f"   {passage.path}{'#' + place if place else ''}{page}", style="cyan", markup=False)
        for quote in passage.quotes or (passage.text,):
            console.print(f"   {plain_excerpt(quote, MAX_EXCERPT)}", markup=False, highlight=False)
