"""Types that are tables: in PostgreSQL each table's name is also the type of its rows, and tells its columns."""

from __future__ import annotations

import re
from functools import cached_property

from sqlglot import exp

from rag_core.datamodel.catalog import CatalogTable
from rag_core.policy.access import Access
from rag_core.policy.literals import BUILT_IN_TYPES
from rag_core.policy.refusal import Refusal
from rag_core.policy.views import ViewGuard

# Of the names that begin like catalogs, those that are plain types.
_PLAIN_PG_TYPES = frozenset({"pg_lsn", "pg_snapshot"})


class RowTypes:
    """Judges every type of a statement that may be a table's as if the table were named."""

    def __init__(self, access: Access, views: ViewGuard) -> None:
        self._access = access
        self._views = views
        self._rules = access.rules

    def check(self, tree: exp.Expr) -> None:
        """Raises Refusal where a type is that of a table of which something is hidden, or of a closed catalog."""
        for node in tree.find_all(exp.DataType):
            parts = self._parts(node)
            if parts:
                self._check_name(parts)

    def _parts(self, node: exp.DataType) -> list[str]:
        """The keys of a type's name, schema first; none for types that the parser knows and PostgreSQL has."""
        kind = node.args.get("kind")
        if isinstance(kind, exp.Expr):
            return [self._rules.identifier_key(part) for part in kind.find_all(exp.Identifier, bfs=False)]
        written = str(kind) if kind is not None else node.sql(dialect=self._rules.dialect)
        if kind is None and (written.lower() in BUILT_IN_TYPES or not re.fullmatch(r"[^\W\d][\w$]*", written)):
            return []
        return [
            self._rules.key(part.strip('"'), quoted=part.startswith('"'))
            for part in re.findall(r'"[^"]*"|[^."]+', written)
        ]

    def _check_name(self, parts: list[str]) -> None:
        schema, name = (parts[-2] if len(parts) > 1 else None), parts[-1]
        # PostgreSQL names the type of an array of them with an underscore in front.
        bare = name.lstrip("_")
        catalogued = bare.startswith("pg_") and bare not in _PLAIN_PG_TYPES
        other_catalog = (
            schema is not None and schema != "pg_catalog" and schema.startswith(("pg_", "information_schema"))
        )
        if other_catalog or (catalogued and schema in (None, "pg_catalog")):
            raise Refusal("catalog_closed", f"the type {'.'.join(parts)} belongs to a catalog, which is closed")
        if schema is not None and schema != "pg_catalog" and not self._opened(schema, bare):
            raise Refusal(
                "schema_not_allowed", f"the policy does not open {schema}, whose type {name} tells labels and fields"
            )
        for candidate in dict.fromkeys((name, name[1:] if name.startswith("_") else name, bare)):
            table = self._access.named(candidate, schema)
            if table is not None:
                self._check_table(table)

    def _opened(self, schema: str, name: str) -> bool:
        """Whether a schema's types may be named: an opened one's, and those that readable columns have anyway."""
        return self._access.opens(schema) or (schema, name) in self._column_types

    @cached_property
    def _column_types(self) -> frozenset[tuple[str, str]]:
        written = {column.type for table in self._access.known_tables() for column in table.columns}
        parts = (tuple(re.findall(r'[^".]+', re.sub(r"\(.*|\[\]", "", kind))) for kind in written)
        return frozenset((two[0], two[1]) for two in parts if len(two) == 2)

    def _check_table(self, table: CatalogTable) -> None:
        access = self._access.allow(table)
        self._views.check(table)
        if access.hidden:
            raise Refusal(
                "column_excluded",
                f"the type {table.qualified_name} has columns that the policy hides: name columns instead",
            )
