"""Functions that a statement runs without calling them: behind operators, casts and domains that somebody made.

Which operator PostgreSQL takes depends on types, which the guard does not know; so an operator counts wherever its
symbol stands, and a cast wherever its types can meet.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError, TokenError

from rag_core.datamodel.catalog import Catalog, CatalogTable, UserCast
from rag_core.policy.dialects import reader_for
from rag_core.policy.functions import FunctionGuard
from rag_core.policy.refusal import Refusal

_SYMBOLS = re.compile(r"[-+*/<>=~!@#%^&|`?]+")
# Strings, quoted names and comments, in which no operator stands.
_QUOTED = re.compile(
    r"""(?<![\w$])[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$).*?\1|--[^\n]*|/\*.*?\*/""", re.DOTALL
)
# Words that compare with an operator.
_WORDS: dict[str, tuple[str, ...]] = {
    "in": ("=", "<>"),
    "case": ("=",),
    "nullif": ("=",),
    "distinct": ("=",),
    "using": ("=",),
    "natural": ("=",),
    "between": ("<=", ">=", "<", ">"),
    "like": ("~~", "!~~"),
    "ilike": ("~~*", "!~~*"),
    "similar": ("~", "!~"),
}


def symbols_of(sql: str) -> frozenset[str]:
    """The operators that PostgreSQL may see in a statement: those written, also in part, and those of its words."""
    bare = _QUOTED.sub(" ' ", sql)
    found: set[str] = set()
    for run in set(_SYMBOLS.findall(bare)):
        found.update(run[start:end] for start in range(len(run)) for end in range(start + 1, len(run) + 1))
    for word in set(re.findall(r"[a-z]+", bare.lower())):
        found.update(_WORDS.get(word, ()))
    if "!=" in found:
        found.add("<>")
    return frozenset(found)


class ImpliedCalls:
    """Judges the operators and casts of statements by the functions that they run."""

    def __init__(self, functions: FunctionGuard, catalog: Catalog) -> None:
        self._dialect = catalog.dialect
        self._operators = {
            item.symbol: item.function for item in catalog.user_operators if _refused(functions, item.function)
        }
        self._casts = [
            (item, self._kind(item.source), self._kind(item.target))
            for item in catalog.user_casts
            if _refused(functions, item.function)
        ]
        self._checks = {
            _last_part(item.type): reason
            for item in catalog.checked_types
            for reason in [self._reason(functions, item.definition)]
            if reason is not None
        }

    def _reason(self, functions: FunctionGuard, definition: str) -> str | None:
        """What a domain's check runs that a statement must not; None where it only computes."""
        try:
            functions.check_definition(definition)
        except TokenError:
            return "its check cannot be read"
        except Refusal as refusal:
            return refusal.message
        symbols = sorted(symbols_of(definition) & self._operators.keys())
        return f"its check runs {self._operators[symbols[0]]}" if symbols else None

    def check(self, text: str, tables: Sequence[CatalogTable]) -> None:
        """Raises Refusal where a statement may run a function of this database's own that the policy does not allow.

        Args:
            text: the statement as it will run, or a view's definition.
            tables: what it reads.
        """
        if self._operators:
            for symbol in sorted(symbols_of(text) & self._operators.keys()):
                raise Refusal(
                    "function_not_allowed",
                    f"the operator {symbol} has a meaning of this database's own, which runs the function "
                    f"{self._operators[symbol]}: the policy has to name it under functions.allow",
                )
        if not self._casts and not self._checks:
            return
        try:
            tree = reader_for(self._dialect, self._dialect).parse(text)[0]
            written = {self._written(node) for node in tree.find_all(exp.DataType)} if tree is not None else set()
        except (SqlglotError, RecursionError):
            raise Refusal("function_not_allowed", "its casts cannot be read, and some run functions") from None
        for kind in sorted(written):
            # An array's type may be written with an underscore in front.
            reason = self._checks.get(kind.lower()) or self._checks.get(kind.lower().lstrip("_"))
            if reason is not None:
                raise Refusal("function_not_allowed", f"a cast to {kind} runs the check of a domain: {reason}")
        self._check_casts(written, tables)

    def _check_casts(self, written: set[str], tables: Sequence[CatalogTable]) -> None:
        seen = written | {self._kind(column.type) for table in tables for column in table.columns}
        # A type of somebody's own may be made of others (a row, a domain), so any of them may hide any other.
        own_seen, own_written = any(map(str.islower, seen)), any(map(str.islower, written))
        for cast, source, target in self._casts:
            if cast.implicit:
                meets = own_seen or (source.isupper() and target.isupper())
            else:
                meets = (own_seen or source.isupper()) and (own_written or target in written)
            if meets:
                raise _cast_refused(cast)

    def _kind(self, text: str) -> str:
        """A type without its length and array brackets: upper case where it is built in, else its name."""
        try:
            return self._written(exp.DataType.build(text, dialect=self._dialect, udt=True))
        except SqlglotError:
            return _last_part(text)

    def _written(self, node: exp.DataType) -> str:
        while node.this is exp.DType.ARRAY and node.expressions:
            node = node.expressions[0]
        if node.this is exp.DType.USERDEFINED:
            kind = node.args.get("kind")
            return _last_part(kind.sql() if isinstance(kind, exp.Expr) else str(kind))
        return str(node.this.name).upper() if isinstance(node.this, exp.DType) else "INTERVAL"


def _last_part(name: str) -> str:
    return re.sub(r"[\"\[\]]|\(.*", "", name).split(".")[-1].strip().lower()


def _refused(functions: FunctionGuard, name: str) -> bool:
    try:
        functions.check_called(name)
    except Refusal:
        return True
    return False


def _cast_refused(cast: UserCast) -> Refusal:
    return Refusal(
        "function_not_allowed",
        f"a cast from {cast.source} to {cast.target} runs {cast.function}, a function of this database's own: "
        "the policy has to name it under functions.allow",
    )
