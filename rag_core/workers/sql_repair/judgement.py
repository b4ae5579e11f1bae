"""What speaks against a result, and which of several results is taken. Pure."""

from __future__ import annotations

from rag_core.datamodel.query import QueryResult


def suspicious(result: QueryResult) -> str:
    """Why a result says nothing: no row, or nothing but NULL and 0 in it; empty where it says something."""
    if not result.rows:
        return "no row"
    if all(cell is None or cell == 0 for row in result.rows for cell in row):
        return "nothing but empty cells and zeros"
    return ""
