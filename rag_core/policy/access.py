"""The policy applied to a catalog: which tables and columns a statement may see, and in what form."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable
from rag_core.policy.computed import computed_columns
from rag_core.policy.names import MOST_SUGGESTIONS, NameRules, Suggestion, asked_back, near_misses
from rag_core.policy.nodes import OBJECT_TYPES
from rag_core.policy.refusal import Refusal
from rag_core.policy.rules import Policy, split_name

CLOSED_SCHEMAS = frozenset(
    {
        "pg_catalog", "information_schema", "pg_toast", "pg_temp", "pg_internal", "account_usage", "organization_usage",
        "reader_account_usage", "data_sharing_usage",
    }
)  # fmt: skip
# Databases that hold nothing but catalogs.
_CLOSED_DATABASES = {"snowflake": frozenset({"snowflake"}), "duckdb": frozenset({"system", "temp"})}
# Catalogs that are read without a schema; elsewhere such names are somebody's own.
_CATALOG_NAMES = {
    "postgres": re.compile(r"pg_"),
    "redshift": re.compile(r"pg_|stv_|stl_|svv_|svl_|svcs_|sys_"),
    "bigquery": re.compile(r"__\w+__\Z"),
    "duckdb": re.compile(r"pg_|duckdb_|sqlite_|pragma_"),
}


def pattern(names: tuple[str, ...]) -> re.Pattern[str] | None:
    """One pattern for dotted names with `*`, for `matches`; None for no names."""
    if not names:
        return None
    alternatives = []
    for name in names:
        parts = (re.escape(part.lower()).replace(r"\*", "[^\0]*") for part in split_name(name))
        alternatives.append("\0".join(parts))
    return re.compile("(?:" + "|".join(alternatives) + r")\Z")


def _quoted_name(parts: tuple[str, ...]) -> str:
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


def matches(compiled: re.Pattern[str] | None, *parts: str) -> bool:
    """Whether one of the names that a pattern was made of means these parts, whatever their case."""
    return compiled is not None and compiled.match("\0".join(part.lower() for part in parts)) is not None


def _names_objects(column: CatalogColumn | None) -> bool:
    return column is not None and column.type.lower().removeprefix("pg_catalog.").removesuffix("[]") in OBJECT_TYPES


@dataclass(frozen=True)
class TableAccess:
    """How one table may be seen.

    `visible` maps a column's key to its name, in the table's order; `hidden` maps the key of a column that must not be
    seen to the reason (excluded, unreadable, computed). `masks` holds the replacement of masked columns by name.
    `texts` names columns that are shown as texts: as names of objects they would turn any number that meets them into
    a name.
    """

    table: CatalogTable
    visible: dict[str, str]
    hidden: dict[str, str] = field(default_factory=dict)
    masks: dict[str, str | None] = field(default_factory=dict)
    row_filters: tuple[str, ...] = ()
    texts: frozenset[str] = frozenset()

    @property
    def restricted(self) -> bool:
        """Whether the table must be replaced by a subquery that shows only what may be seen."""
        return bool(self.hidden or self.masks or self.row_filters or self.texts)


class Access:
    """Looks tables up under a policy. Everything is computed when first asked, for a catalog may be large."""

    def __init__(self, policy: Policy, catalog: Catalog, rules: NameRules) -> None:
        self.catalog = catalog
        self.rules = rules
        self._schemas = frozenset(schema.lower() for schema in policy.schemas)
        self._include = pattern(policy.tables.include)
        self._named = pattern(tuple(name for name in policy.tables.include if "*" not in name))
        self._exclude = pattern(policy.tables.exclude)
        self._exclude_columns = pattern(policy.columns.exclude)
        self._show_columns = pattern(policy.columns.show)
        self._masks = tuple((pattern((mask.column,)), mask.replace_with) for mask in policy.columns.mask)
        self._filters = tuple((pattern((rule.table,)), rule.where) for rule in policy.row_filters)
        ruled = (*policy.columns.exclude, *(mask.column for mask in policy.columns.mask))
        self._any_rule = pattern(
            (
                *policy.tables.exclude,
                *(rule.table for rule in policy.row_filters),
                *(_quoted_name(split_name(column)[:2]) for column in ruled),
            )
        )
        # Whether a table may be suggested; whoever looks into views narrows it.
        self.offered: Callable[[CatalogTable], bool] = lambda table: True
        self._computed: dict[str, TableAccess] = {}
        # A rule of a table is one of its children, whose rows are among its own, and of its ancestors' rows within it.
        self._relatives: dict[tuple[str, str], set[tuple[str, str]]] = {}
        for link in catalog.inheritance:
            self._relatives.setdefault(link.child, set()).add(link.ancestor)
            self._relatives.setdefault(link.ancestor, set()).add(link.child)

    @cached_property
    def _index(self) -> dict[tuple[str, str], CatalogTable]:
        key = self.rules.catalog_key
        return {(key(table.schema_name), key(table.name)): table for table in self.catalog.tables}

    @cached_property
    def _schema_keys(self) -> frozenset[str]:
        return frozenset(schema for schema, _ in self._index)

    @cached_property
    def _closed(self) -> frozenset[str]:
        return frozenset(self.rules.catalog_key(schema) for schema in self.catalog.closed_schemas)

    @cached_property
    def _path(self) -> tuple[str, ...]:
        return tuple(self.rules.catalog_key(schema) for schema in self.catalog.search_path)

    def find(self, name: str, schema: str | None, database: str | None) -> CatalogTable:
        """The table of these keys, by the search path where no schema is given. Raises Refusal."""
        if database is not None and database != self.rules.catalog_key(self.catalog.database):
            raise Refusal("catalog_closed", f"another database than {self.catalog.database} cannot be read")
        if self.closed(name, schema, database):
            raise Refusal("catalog_closed", f"the catalog {schema or name} is closed: it names objects that are hidden")
        table = self.named(name, schema)
        if table is None:
            raise self._unknown(name, schema)
        return table

    def named(self, name: str, schema: str | None) -> CatalogTable | None:
        """The table of these keys, by the search path where no schema is given; None where there is none."""
        for candidate in (schema,) if schema is not None else self._path:
            table = self._index.get((candidate, name))
            if table is not None:
                return table
        return None

    def closed(self, name: str, schema: str | None, database: str | None) -> bool:
        """Whether these names mean a catalog of the database, which names objects that are hidden."""
        dialect = self.rules.dialect
        if database is not None and database.lower() in _CLOSED_DATABASES.get(dialect, ()):
            return True
        # BigQuery writes dataset.INFORMATION_SCHEMA.TABLES, where the last two parts make one name.
        parts = f"{schema or ''}.{name}".lower().split(".")
        if not CLOSED_SCHEMAS.isdisjoint(parts[:-1]) or any(part.startswith("pg_") for part in parts[:-1]):
            return True
        unqualified = _CATALOG_NAMES.get(dialect, _CATALOG_NAMES["postgres"])
        if unqualified.match(parts[-1]) is None:
            return False
        if dialect == "bigquery":
            return True
        # Only PostgreSQL's are found before tables of the same name whatever the path says.
        return schema is None and (dialect == "postgres" or self.named(name, None) is None)

    def allow(self, table: CatalogTable) -> TableAccess:
        """How the table may be seen. Raises Refusal where it may not."""
        name = table.qualified_name
        if not self.in_scope(table):
            raise Refusal("schema_not_allowed", f"the policy does not open {self._written(table)}")
        if self._excluded(table):
            raise Refusal("table_excluded", f"the policy excludes {self._excluded_as(table)}")
        if not table.readable:
            raise Refusal(
                "not_permitted", f"this role may not read {self._written(table)}: what it holds is not known, not none"
            )
        access = self._computed.get(name)
        if access is None:
            access = self._computed[name] = self._compute(table)
        return access

    def opens(self, schema: str) -> bool:
        """Whether the policy opens a schema."""
        return schema.lower() in self._schemas

    def in_scope(self, table: CatalogTable) -> bool:
        """Whether the policy opens the table's schema and names the table, exclusions aside."""
        return table.schema_name.lower() in self._schemas and matches(self._include, table.schema_name, table.name)

    def vouched(self, table: CatalogTable) -> bool:
        """Whether the policy names the table in full, which opens a view over hidden data."""
        return matches(self._named, table.schema_name, table.name)

    def hidden_columns(self, table: CatalogTable) -> frozenset[str] | None:
        """Names of the columns that the policy excludes or masks; None where it hides the table or some of its rows."""
        if self._excluded(table):
            return None
        access = self._compute(table)
        if access.row_filters:
            return None
        excluded = {
            column.name
            for column in table.columns
            if access.hidden.get(self.rules.catalog_key(column.name)) in ("excluded", "computed")
        }
        return frozenset(excluded | access.masks.keys())

    def may_hide(self, schema: str, name: str) -> bool:
        """Whether any rule of the policy names this table or something in it; for tables that cannot be seen."""
        return any(matches(self._any_rule, *relative) for relative in self._family(schema, name))

    @cached_property
    def hides_anything(self) -> bool:
        """Whether the policy hides any table, column, value or row at all."""
        return any((self._exclude, self._exclude_columns, self._masks, self._filters))

    def _family(self, schema: str, name: str) -> list[tuple[str, str]]:
        """The table itself, what it inherits from and what inherits from it, as (schema, table)."""
        return [(schema, name), *sorted(self._relatives.get((schema, name), ()))]

    def _excluded(self, table: CatalogTable) -> bool:
        return any(matches(self._exclude, *relative) for relative in self._family(table.schema_name, table.name))

    def _excluded_as(self, table: CatalogTable) -> str:
        """Which excluded table it is: itself or one whose rows or columns it shares."""
        written = self._written(table)
        for schema, name in self._family(table.schema_name, table.name):
            if matches(self._exclude, schema, name):
                other = f"{self.rules.written(schema)}.{self.rules.written(name)}"
                return f"the table {written}" if other == written else f"{other}, with which {written} shares rows"
        return written

    def _compute(self, table: CatalogTable) -> TableAccess:
        family = self._family(table.schema_name, table.name)
        visible: dict[str, str] = {}
        hidden: dict[str, str] = {}
        masks: dict[str, str | None] = {}
        computed = self._computed_in(family)
        for column in table.columns:
            key = self.rules.catalog_key(column.name)
            if self._ruled_out(column.name, family):
                hidden[key] = "excluded"
            elif key in computed:
                hidden[key] = "computed"
            elif not column.readable and table.readable:
                hidden[key] = "unreadable"
            else:
                visible[key] = column.name
                for compiled, replacement in self._masks:
                    if any(matches(compiled, *relative, column.name) for relative in family):
                        masks[column.name] = replacement
        filters = tuple(
            where for compiled, where in self._filters if any(matches(compiled, *relative) for relative in family)
        )
        texts = frozenset(name for name in visible.values() if name not in masks and _names_objects(table.column(name)))
        return TableAccess(table=table, visible=visible, hidden=hidden, masks=masks, row_filters=filters, texts=texts)

    def _ruled_out(self, name: str, family: list[tuple[str, str]]) -> bool:
        return any(matches(self._exclude_columns, *relative, name) for relative in family)

    def _computed_in(self, family: list[tuple[str, str]]) -> set[str]:
        """Keys of the columns that some table of the family computes from what the policy excludes or masks.

        Whoever reads the ancestor reads the child's rows, which the child may compute by an expression of its own.
        """
        if self._exclude_columns is None and not self._masks:
            return set()
        found: set[str] = set()
        for schema, name in family:
            table = self.named(self.rules.catalog_key(name), self.rules.catalog_key(schema))
            if table is None:
                continue
            names = [column.name for column in table.columns]
            hidden = [name for name in names if self._ruled_out(name, family) or self._masked(name, family)]
            shown = [name for name in names if any(matches(self._show_columns, *relative, name) for relative in family)]
            found.update(map(self.rules.catalog_key, computed_columns(table, hidden, self.rules, shown=shown)))
        return found

    def _masked(self, name: str, family: list[tuple[str, str]]) -> bool:
        return any(matches(compiled, *relative, name) for compiled, _ in self._masks for relative in family)

    # ------------------------------------------------------------------ words for people

    def _written(self, table: CatalogTable) -> str:
        return f"{self.rules.written(table.schema_name)}.{self.rules.written(table.name)}"

    def known_tables(self) -> list[CatalogTable]:
        """The tables that may be read, without looking into views."""
        return [
            table
            for table in self.catalog.tables
            if self.in_scope(table) and table.readable and not self._excluded(table)
        ]

    def _unknown(self, name: str, schema: str | None) -> Refusal:
        known = self.known_tables()
        folded = name.lower()
        other_case = [
            table
            for table in known
            if table.name.lower() == folded and (schema is None or table.schema_name.lower() == schema.lower())
        ]
        wanted = f"{schema}.{name}" if schema is not None else name
        if other_case:
            names = tuple(self._written(table) for table in other_case)
            return Refusal(
                "quoting",
                f"there is no table {wanted}: the name is written {' or '.join(names)}, "
                f"{'with its quotes' if any(chr(34) in text for text in names) else 'in another schema'}",
                names,
                (1.0,) * len(names),
                tuple(other_case),
            )
        if schema is not None and schema in self._closed and schema.lower() in self._schemas:
            return Refusal(
                "not_permitted", f"this role may not use the schema {schema}: whether it holds {wanted} is not known"
            )
        if schema is not None and schema not in self._schema_keys and schema not in self._path:
            schemas = [(item, item) for item in sorted({table.schema_name for table in known})]
            named = near_misses(schema, schemas)
            if any(table.name.lower() == folded for table in known):
                named = [Suggestion(name=self._written(t), score=0.9) for t in known if t.name.lower() == folded]
            return self._refuse_unknown("unknown_table", f"unknown schema {schema} in {wanted}", named)
        by_name = {self._written(table): table for table in known}
        found = near_misses(name, [(table.name, written) for written, table in by_name.items()], most=20)
        offered = [item for item in found if self.offered(by_name[item.name])][:MOST_SUGGESTIONS]
        return self._refuse_unknown("unknown_table", f"unknown table {wanted}", offered)

    def _refuse_unknown(self, code: str, message: str, found: list[Suggestion]) -> Refusal:
        return Refusal(
            code,
            message + asked_back(found),
            tuple(item.name for item in found),
            tuple(item.score for item in found),
        )
