"""Columns that the database computes from others of their table, and so give away what those hold."""

from __future__ import annotations

from collections.abc import Collection

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from rag_core.datamodel.catalog import CatalogColumn, CatalogTable
from rag_core.policy.dialects import STUMBLES
from rag_core.policy.names import NameRules

# Where Snowflake keeps a whole record of an external table, of which its other columns are parts.
_RECORD = "VALUE"


def computed_columns(
    table: CatalogTable, hidden: Collection[str], rules: NameRules, *, shown: Collection[str] = ()
) -> set[str]:
    """Names of the columns that tell a hidden one's values, directly or through others.

    Args:
        table: the table as the catalog describes it.
        hidden: names of its columns that the policy excludes or masks.
        rules: how its dialect compares names.
        shown: names of columns that somebody has looked at, which are left out and tell nothing on.
    """
    if not hidden:
        return set()
    found: set[str] = set()
    closed = {rules.catalog_key(name) for name in hidden}
    judged = [column for column in table.columns if column.name not in {*hidden, *shown}]
    parts = {column.name: _names_in(column, rules) for column in judged if column.generated}
    while more := {
        name for name, names in parts.items() if name not in found and (names is None or not names.isdisjoint(closed))
    }:
        found |= more
        closed |= {rules.catalog_key(name) for name in more}
    if rules.dialect == "snowflake" and table.kind == "foreign_table":
        found |= {column.name for column in judged if column.name == _RECORD}
    return found


def _names_in(column: CatalogColumn, rules: NameRules) -> set[str] | None:
    """The keys of all names in a generated column's expression; None where that is not known."""
    if not column.default:
        return None
    try:
        tree = sqlglot.parse_one(column.default, read=rules.dialect)
    except (SqlglotError, RecursionError, *STUMBLES):
        return _words_of(column.default, rules)
    named = (node for node in tree.find_all(exp.Identifier) if isinstance(node.parent, (exp.Column, exp.Dot)))
    return {rules.identifier_key(node) for node in named}


def _words_of(text: str, rules: NameRules) -> set[str] | None:
    """The same of an expression that the parser does not read: every word that could be a name."""
    try:
        tokens = Dialect.get_or_raise(rules.dialect).tokenize(text)
    except SqlglotError:
        return None
    return {
        rules.key(token.text, quoted=token.token_type is TokenType.IDENTIFIER)
        for token in tokens
        if token.token_type not in (TokenType.STRING, TokenType.NUMBER)
    }
