"""Why a plan asks what it asks, in plain words. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.datamodel.plan import QueryType


def tell_readings(read_so: Sequence[str]) -> str:
    """What was assumed in reading the question, for the explanation."""
    return f"; it was read so: {'; '.join(dict.fromkeys(read_so))}" if read_so else ""


def tell_sources(query_type: QueryType, found: bool) -> str:
    """Which sources are asked; `found` False: nothing is."""
    if not found:
        return "No source was found for the question"
    if query_type == "sql":
        return "The question is about figures that the semantic model defines"
    if query_type == "documents":
        return "The question is about what is written, so the documents are asked"
    return "The question asks for a figure and for something written, so both sources are asked side by side"
