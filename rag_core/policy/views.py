"""Views are seen through, unless the policy vouches for them.

One that reads what the policy hides is hidden too, and so is one that reads a catalog or that runs a function which a
statement must not call.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError, TokenError

from rag_core.datamodel.catalog import Catalog, CatalogTable
from rag_core.policy.access import CLOSED_SCHEMAS, Access
from rag_core.policy.dialects import STUMBLES
from rag_core.policy.functions import FunctionGuard
from rag_core.policy.implied import ImpliedCalls
from rag_core.policy.names import NameRules
from rag_core.policy.refusal import Refusal
from rag_core.policy.resolve import Resolver
from rag_core.policy.rules import Policy

VIEW_KINDS = frozenset({"view", "materialized_view"})


class ViewGuard:
    """Judges views by their definitions, once each."""

    def __init__(
        self, access: Access, catalog: Catalog, rules: NameRules, functions: FunctionGuard, implied: ImpliedCalls
    ) -> None:
        self._access = access
        self._catalog = catalog
        self._rules = rules
        self._functions = functions
        self._implied = implied
        everything = Policy(version=1, schemas=tuple(sorted({table.schema_name for table in catalog.tables})))
        self._everything = Access(everything, catalog, rules)
        self._reasons: dict[str, str | None] = {}
        self._lock = threading.RLock()

    def check(self, table: CatalogTable) -> None:
        """Raises Refusal where the table is a view over hidden data that the policy does not name."""
        reason = self.reason(table)
        if reason is not None:
            raise Refusal(
                "table_excluded",
                f"the view {table.qualified_name} {reason}; the policy would have to name it under tables.include",
            )

    def reason(self, table: CatalogTable) -> str | None:
        """Why a view must not be read; None where it may, and for tables."""
        if table.kind not in VIEW_KINDS or self._access.vouched(table):
            return None
        name = table.qualified_name
        # Under the lock, so that nobody sees a view as harmless while another thread is still looking into it.
        with self._lock:
            if name not in self._reasons:
                # A view that reads itself through others cannot exist; the entry guards against a catalog saying so.
                self._reasons[name] = None
                self._reasons[name] = self._reason(table)
            return self._reasons[name]

    def _reason(self, view: CatalogTable) -> str | None:
        """Why the view is hidden, None where it is not."""
        if not view.definition:
            return _UNSEEN if self._access.hides_anything else None
        try:
            self._functions.check_definition(view.definition)
        except (Refusal, TokenError) as error:
            return _runs(error)
        try:
            tree = sqlglot.parse_one(view.definition, read=self._rules.dialect)
            if _calls_catalog(tree):
                return _CATALOGUED
            resolver = Resolver(self._everything, None)
            resolver.resolve(tree)
        except STUMBLES:
            return self._reason_unseen(view.definition)
        except (Refusal, SqlglotError, RecursionError):
            return self._reason_by_names(view.definition)
        tables = [table for name in resolver.tables if (table := self._catalog.table(name)) is not None]
        for table in tables:
            reason = self._reason_of_table(table, resolver.columns)
            if reason is not None:
                return reason
        return self._reason_of_implied(view.definition, tables)

    def _reason_of_implied(self, definition: str, tables: list[CatalogTable]) -> str | None:
        try:
            self._implied.check(definition, tables)
        except Refusal as refusal:
            return _runs(refusal)
        return None

    def _reason_of_table(self, table: CatalogTable, columns: Mapping[str, None]) -> str | None:
        if table.kind in VIEW_KINDS and not self._access.vouched(table):
            inner = self.reason(table)
            if inner is not None:
                return inner
        name = table.qualified_name
        hidden = self._access.hidden_columns(table)
        if hidden is None or any(f"{name}.{column}" in columns for column in sorted(hidden)):
            return f"reads what the policy hides of {name}"
        return None

    def _reason_by_names(self, definition: str) -> str | None:
        """The coarse judgement, for views over tables that this role cannot see: any rule on such a table hides it."""
        try:
            tree = sqlglot.parse_one(definition, read=self._rules.dialect)
        except (SqlglotError, RecursionError, *STUMBLES):
            return self._reason_unseen(definition)
        if self._reads_catalog(tree):
            return _CATALOGUED
        tables = []
        for node in tree.find_all(exp.Table):
            schemas = (node.db,) if node.db else tuple(sorted({item.schema_name for item in self._catalog.tables}))
            if any(self._access.may_hide(schema, node.name) for schema in schemas):
                return f"reads {node.name}, of which the policy hides something"
            tables += [
                item
                for schema in schemas
                if (item := self._access.named(self._key(node.this), self._schema_key(node, schema))) is not None
            ]
        for table in tables:
            inner = self.reason(table)
            if inner is not None:
                return inner
        return self._reason_of_implied(definition, tables)

    def _reason_unseen(self, definition: str) -> str | None:
        """The judgement of a definition that cannot be read."""
        if _CATALOG.search(definition):
            return _CATALOGUED
        return _UNSEEN if self._access.hides_anything or self._catalog.user_functions else None

    def _key(self, node: exp.Expr) -> str:
        return self._rules.identifier_key(node) if isinstance(node, exp.Identifier) else ""

    def _schema_key(self, node: exp.Table, schema: str) -> str:
        """The key of the schema as it is written, or as the catalog spells it where none is."""
        return self._key(node.args["db"]) if node.db else self._rules.catalog_key(schema)

    def _reads_catalog(self, tree: exp.Expr) -> bool:
        return any(
            self._access.closed(node.name, node.db or None, node.catalog or None) for node in tree.find_all(exp.Table)
        )


def _calls_catalog(tree: exp.Expr) -> bool:
    """Whether a function of a catalog is called, as in Snowflake's `TABLE(INFORMATION_SCHEMA.QUERY_HISTORY())`."""
    for node in tree.find_all(exp.Dot):
        if isinstance(node.expression, exp.Func):
            schemas = {item.name.lower() for item in node.this.find_all(exp.Identifier)}
            # PostgreSQL's own functions may be named with their schema.
            if schemas & (CLOSED_SCHEMAS - {"pg_catalog"}):
                return True
    return False


# Names of catalogs in a definition that the parser does not read; functions may be named with pg_catalog.
_CATALOG = re.compile(r"\b(?:information_schema|\w*account_usage|pg_(?!catalog\b)\w+)\b", re.IGNORECASE)
_CATALOGUED = "reads a catalog, which names objects that are hidden"
_UNSEEN = "cannot be looked into, while the policy hides something"


def _runs(error: Exception) -> str:
    told = error.message if isinstance(error, Refusal) else "what cannot be read"
    return f"runs what a statement must not: {told}"
