"""How statements are parsed so that they come out as they went in."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.postgres import Postgres
from sqlglot.dialects.redshift import Redshift
from sqlglot.parsers.base import BaseParser
from sqlglot.parsers.postgres import PostgresParser

from rag_core.policy.nodes import REFUSED_FUNCTION_NAMES
from rag_core.policy.refusal import Refusal

# Odd input makes the parser and the generator stumble over themselves.
STUMBLES = (AttributeError, IndexError, KeyError, TypeError, ValueError)
# Functions whose arguments have a syntax of their own, as in EXTRACT(day FROM x); the rest are calls like any other.
_OWN_SYNTAX = frozenset(
    {
        "CAST", "CEIL", "CONVERT", "EXTRACT", "FLOOR", "JSON_OBJECT", "JSON_OBJECTAGG", "JSON_TABLE", "JSON_VALUE",
        "NORMALIZE", "OVERLAY", "POSITION", "STRING_AGG", "SUBSTRING", "TRIM", "XMLELEMENT", "XMLTABLE",
    }
)  # fmt: skip

# Steps back of the parser, in tokens, before it gives up. Gold statements take at most a third of one per token.
_MOST_STEPS_BACK, _STEPS_BACK_PER_TOKEN = 5_000, 10


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
    reader = PlainPostgres() if written_in == warehouse == "postgres" else Dialect.get_or_raise(written_in)
    reader.parser_class = _patient(reader.parser_class)
    return reader


@cache
def _patient(parser: type[BaseParser]) -> type[BaseParser]:
    """The parser with an end to its patience.

    Where something may be one thing or another it reads on, goes back and reads again; within brackets of which each
    is doubtful it does so twice at every depth, and 30 of them would never end. Raises Refusal.
    """

    class Patient(parser):  # type: ignore[misc, valid-type]
        """Counts the steps back."""

        _steps_back = 0

        def _retreat(self, index: int) -> None:
            if index < self._index:
                self._steps_back += self._index - index
                if self._steps_back > _MOST_STEPS_BACK + _STEPS_BACK_PER_TOKEN * self._tokens_size:
                    raise Refusal(
                        "too_complex", "the statement holds brackets within brackets that take too long to read"
                    )
            super()._retreat(index)

    return Patient


@cache
def known_functions(dialect: str) -> frozenset[str]:
    """Lower-case names that sqlglot knows as functions which only compute, for catalogs that tell no volatility."""
    names = {name.lower() for name in Dialect.get_or_raise(dialect).parser_class.FUNCTIONS}
    return frozenset(names - REFUSED_FUNCTION_NAMES)
