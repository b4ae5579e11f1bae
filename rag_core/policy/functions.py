"""Which functions a statement may call."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from itertools import pairwise

from ruamel.yaml import YAML
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokenizer_core import TokenType

from rag_core.datamodel.base import Record
from rag_core.datamodel.catalog import Catalog
from rag_core.policy.dialects import known_functions
from rag_core.policy.names import clipped
from rag_core.policy.refusal import Refusal
from rag_core.policy.rules import FunctionRules


class FunctionLists(Record):
    """The packaged lists: see `functions.yaml` beside this module for what each is for."""

    denied: tuple[str, ...]
    denied_in: dict[str, tuple[str, ...]]
    denied_prefixes: tuple[str, ...]
    spared: tuple[str, ...]
    harmless: tuple[str, ...]
    known: dict[str, tuple[str, ...]]


@cache
def function_lists() -> FunctionLists:
    """The packaged lists."""
    text = resources.files("rag_core.policy").joinpath("functions.yaml").read_text(encoding="utf-8")
    return FunctionLists.model_validate(YAML(typ="safe").load(text))


class FunctionGuard:
    """Judges function names against the packaged lists, the catalog's volatilities and the policy's own lists."""

    def __init__(self, rules: FunctionRules, catalog: Catalog) -> None:
        lists = function_lists()
        self._allow = frozenset(name.lower() for name in rules.allow)
        self._deny = frozenset(name.lower() for name in rules.deny)
        self._denied = frozenset((*lists.denied, *lists.denied_in.get(catalog.dialect, ())))
        self._prefixes = re.compile("|".join(f"(?:{prefix})" for prefix in lists.denied_prefixes))
        self._spared = frozenset(lists.spared)
        self._harmless = frozenset(lists.harmless)
        self._known = frozenset(lists.known.get(catalog.dialect, ()))
        self._parsed = known_functions(catalog.dialect)
        self._dialect = catalog.dialect
        self._volatility = catalog.functions
        self._user = frozenset(catalog.user_functions)

    def check_called(self, name: str) -> None:
        """Raises Refusal where a function that is called by its plain name must not be."""
        name = self._key(name)
        self.check_listed(name)
        if name in self._allow or name in self._harmless:
            return
        volatility = self._volatility.get(name)
        if volatility == "volatile":
            raise Refusal("function_not_allowed", f"the function {name} is volatile: it may change or reveal more")
        if volatility is None and name not in self._known and name not in self._parsed:
            raise Refusal("function_not_allowed", f"the function {name} is not known to be harmless")

    def check_attribute(self, name: str) -> None:
        """Judges a name after a point that no column is known for. Raises Refusal.

        To PostgreSQL `(x).name` is `name(x)` where x has no such column, whatever x is: `('file'::text).pg_read_file`.
        """
        if self._dialect in _ATTRIBUTES_CALL:
            self.check_listed(name)
            if self._key(name) == "pg_typeof":
                raise Refusal("unsupported_syntax", "pg_typeof is not read as a field: call it", ("pg_typeof(x)",))
            if self._key(name) in self._volatility:
                self.check_called(name)

    def check_text(self, text: str) -> None:
        """Judges every `name(` of a text, whatever a parser takes it for. Raises Refusal."""
        for name in called_names(text, self._dialect):
            self.check_listed(name)

    def check_definition(self, text: str) -> None:
        """The same for a view's definition, in which no parser has judged the calls by their volatility."""
        for name in called_names(text, self._dialect):
            self.check_listed(name)
            if self._volatility.get(self._key(name)) == "volatile":
                self.check_called(name)

    def check_listed(self, name: str) -> None:
        """Raises Refusal where a name is denied, or was written by somebody in this database and is not allowed."""
        name = self._key(name)
        if name in self._deny:
            raise Refusal("function_not_allowed", f"the policy denies the function {name}")
        if name in self._allow:
            return
        if name in self._denied or (name not in self._spared and self._prefixes.match(name)):
            raise Refusal(
                "function_not_allowed", f"the function {name} reaches files, settings, catalogs, other sessions or SQL"
            )
        if name in self._user:
            raise Refusal(
                "function_not_allowed",
                f"{name} is a function of this database's own, which may read what its owner may: "
                "the policy has to name it under functions.allow",
            )

    def _key(self, name: str) -> str:
        return (clipped(name) if self._dialect == "postgres" else name).lower()


# Databases in which a function may be called like a column of its argument.
_ATTRIBUTES_CALL = frozenset({"postgres", "redshift"})


def called_names(text: str, dialect: str) -> Iterator[str]:
    """Every name of a statement that stands before an opening parenthesis."""
    for token, following in pairwise(Dialect.get_or_raise(dialect).tokenize(text)):
        if following.token_type is TokenType.L_PAREN and token.token_type not in _NO_NAMES:
            yield token.text


_NO_NAMES = frozenset({TokenType.STRING, TokenType.NUMBER, TokenType.COMMA, TokenType.L_PAREN, TokenType.R_PAREN})
