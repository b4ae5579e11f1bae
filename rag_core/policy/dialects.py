"""How statements are parsed so that they come out as they went in."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.postgres import Postgres
from sqlglot.dialects.redshift import Redshift
from sqlglot.parsers.postgres import PostgresParser

from rag_core.policy.nodes import REFUSED_FUNCTION_NAMES

# Odd input makes the parser and the generator stumble over themselves.
STUMBLES = (AttributeError, IndexError, KeyError, TypeError, ValueError)
# Functions whose arguments have a syntax of their own, as in EXTRACT(day FROM x); the rest are calls like any other.
_OWN_SYNTAX = frozenset(
    {
        "CAST", "CEIL", "CONVERT", "EXTRACT", "FLOOR", "JSON_OBJECT", "JSON_OBJECTAGG", "JSON_TABLE", "JSON_VALUE",
        "NORMALIZE", "OVERLAY", "POSITION", "STRING_AGG", "SUBSTRING", "TRIM", "XMLELEMENT", "XMLTABLE",
    }
)  # fmt: skip


class PlainPostgres(Postgres):
    """PostgreSQL as written: sqlglot would take `now()` for CURRENT_TIMESTAMP, `date_part` for EXTRACT, and so on.

    Every call keeps its name, so that the catalog's volatility judges just what will run.
    """

    class Parser(PostgresParser):
        """The parser without a table of functions."""

        FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
            name: parser for name, parser in PostgresParser.FUNCTION_PARSERS.items() if name in _OWN_SYNTAX
        }


class PlainRedshift(Redshift):
    """Redshift with `''` for a quote inside a text.

    A server on which standard_conforming_strings is on reads the generator's own `\\'` as the end of the text, and what
    follows as SQL.
    """

    class Tokenizer(Redshift.Tokenizer):
        """The first way to escape is the one that is written; both are read."""

        STRING_ESCAPES: ClassVar[list[str]] = ["'", "\\"]


def writer_for(warehouse: str) -> Dialect:
    """The dialect that writes statements for a warehouse."""
    return PlainRedshift() if warehouse == "redshift" else Dialect.get_or_raise(warehouse)


def reader_for(written_in: str, warehouse: str) -> Dialect:
    """The dialect that reads a statement for a warehouse. Raises ValueError for an unknown name."""
    if written_in == warehouse == "postgres":
        return PlainPostgres()
    return Dialect.get_or_raise(written_in)


@cache
def known_functions(dialect: str) -> frozenset[str]:
    """Lower-case names that sqlglot knows as functions which only compute, for catalogs that tell no volatility."""
    names = {name.lower() for name in Dialect.get_or_raise(dialect).parser_class.FUNCTIONS}
    return frozenset(names - REFUSED_FUNCTION_NAMES)
