"""The schema as a mender needs it: tables and columns by the names that are compared, and the graph of joins. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sqlglot import exp

from rag_core.datamodel.catalog import Catalog, CatalogColumn
from rag_core.policy.names import name_rules, similarity
from rag_core.schema.joins import Join
from rag_core.schema.words import name_tokens

NEAR = 0.72
# A table's name is guessed from little else than itself; a wrong table is worse than a wrong column.
NEAR_TABLE = 0.7


class TableShape(NamedTuple):
    """A table: its schema and name as the catalog spells them, its columns by compared name, its primary key."""

    schema_name: str
    name: str
    columns: Mapping[str, CatalogColumn]
    primary: tuple[str, ...]

    @property
    def full(self) -> str:
        """`schema.table`."""
        return f"{self.schema_name}.{self.name}"


class Link(NamedTuple):
    """One way to join: columns of `left` equal columns of `right`, pairwise."""

    left: str
    left_columns: tuple[str, ...]
    right: str
    right_columns: tuple[str, ...]

    def turned(self) -> Link:
        """The same the other way round."""
        return Link(self.right, self.right_columns, self.left, self.left_columns)


class Shape:
    """What a statement may name.

    Args:
        catalog: the tables that questions may see.
        joins: scored joins; usable ones are followed, besides the declared keys.
        values: known values by `schema.table.column`.
    """

    def __init__(
        self, catalog: Catalog, joins: Iterable[Join] = (), values: Mapping[str, Iterable[str]] | None = None
    ) -> None:
        self.dialect = catalog.dialect
        self.rules = name_rules(catalog.dialect)
        self.values = {name: tuple(known) for name, known in (values or {}).items()}
        self._path = tuple(catalog.search_path)
        self.tables: dict[str, TableShape] = {}
        by_name: defaultdict[str, list[TableShape]] = defaultdict(list)
        for table in catalog.tables:
            if not table.readable:
                continue
            columns = {self.rules.catalog_key(item.name): item for item in table.columns if item.readable}
            primary = next((key.columns for key in table.keys if key.primary), ())
            shaped = TableShape(table.schema_name, table.name, columns, primary)
            self.tables[shaped.full] = shaped
            by_name[self.rules.catalog_key(table.name)].append(shaped)
        self._by_name = dict(by_name)
        self._links: defaultdict[str, list[Link]] = defaultdict(list)
        declared = _links(catalog, joins)
        for link in declared:
            if link.left in self.tables and link.right in self.tables:
                self._links[link.left].append(link)
                self._links[link.right].append(link.turned())
        for known in list(self.tables.values()):
            # Without a declared key, what others refer to is one.
            referred = {item.left_columns for item in self._links[known.full] if item.turned() in declared}
            if not known.primary and len(referred) == 1:
                self._replace(known, next(iter(referred)))

    def _replace(self, table: TableShape, primary: tuple[str, ...]) -> None:
        shaped = table._replace(primary=primary)
        self.tables[table.full] = shaped
        named = self._by_name[self.rules.catalog_key(table.name)]
        named[named.index(table)] = shaped

    def key(self, identifier: exp.Expr | None) -> str:
        """An identifier as names are compared; empty for none."""
        return self.rules.identifier_key(identifier) if isinstance(identifier, exp.Identifier) else ""

    def find_table(self, name: str, schema_key: str = "") -> TableShape | None:
        """The table of a compared name, in a schema or along the search path; a name that is unique is found anyway."""
        found = self._by_name.get(name, [])
        if schema_key:
            return next((item for item in found if self.rules.catalog_key(item.schema_name) == schema_key), None)
        for schema_name in self._path:
            for item in found:
                if item.schema_name == schema_name:
                    return item
        return found[0] if len(found) == 1 else None

    def near_table(self, name: str, columns: Iterable[str] = ()) -> tuple[TableShape, float] | None:
        """The table that a wrong name most likely meant, by its likeness and by the columns asked of it."""
        wanted = list(columns)
        scored = []
        for table in self.tables.values():
            score = _table_likeness(name, table.name)
            if score >= NEAR_TABLE and wanted:
                held = sum(column in table.columns for column in wanted) / len(wanted)
                score = 0.8 * score + 0.2 * held
            scored.append((round(score, 4), table.full))
        best = sorted(scored, key=lambda item: (-item[0], item[1]))[:2]
        if not best or best[0][0] < NEAR_TABLE or (len(best) > 1 and best[1][0] == best[0][0]):
            return None
        return self.tables[best[0][1]], best[0][0]

    def links_of(self, table: str) -> list[Link]:
        """The one-step joins of a table, by names."""
        return sorted(self._links.get(table, ()))

    def between(self, left: str, right: str) -> Link | None:
        """The one-step join of two tables, the first by columns where there are several."""
        return next((link for link in self.links_of(left) if link.right == right), None)

    def path(self, starts: Iterable[str], goal: str, *, most: int = 3) -> list[Link] | None:
        """The shortest chain of joins from one of the tables to `goal`; of equally long ones the first by names."""
        reached: dict[str, list[Link]] = {start: [] for start in dict.fromkeys(starts) if start in self.tables}
        if goal in reached:
            return []
        edge = list(reached)
        for _ in range(most):
            following: dict[str, list[Link]] = {}
            for table in edge:
                for link in self.links_of(table):
                    if link.right not in reached and link.right not in following:
                        following[link.right] = [*reached[table], link]
            if goal in following:
                return following[goal]
            reached |= following
            edge = list(following)
        return None

    def column_type(self, table: str, column: str) -> str:
        """The type's text of a column, empty where there is none."""
        shaped = self.tables.get(table)
        found = shaped.columns.get(column) if shaped is not None else None
        return found.type if found is not None else ""


def _links(catalog: Catalog, joins: Iterable[Join]) -> list[Link]:
    found = [
        Link(table.qualified_name, key.columns, key.target, key.target_columns)
        for table in catalog.tables
        for key in table.foreign_keys
    ]
    for join in joins:
        if join.status == "usable":
            found.append(Link(join.left_table, join.left_columns, join.right_table, join.right_columns))
    return list(dict.fromkeys(found))


def singular(name: str) -> str:
    """A table's name for one of its rows, as columns are named after it."""
    if len(name) > 4 and name.endswith("ies"):
        return name[:-3] + "y"
    return name[:-1] if len(name) > 3 and name.endswith("s") and not name.endswith("ss") else name


def _digits(name: str) -> list[str]:
    return re.findall(r"\d+", name)


def _table_likeness(wanted: str, name: str) -> float:
    if _digits(wanted) != _digits(name):
        return 0.0
    left, right = set(name_tokens(wanted)), set(name_tokens(name))
    shared = len(left & right) / max(len(left), len(right)) if left and right else 0.0
    score = max(similarity(wanted, name), 0.6 + 0.4 * shared if shared >= 0.5 else 0.0)
    bare, known = (singular(part.replace("_", "").lower()) for part in (wanted, name))
    # Tables are often given a mark in front: sbCustomer is asked for as customers.
    if len(bare) >= 4 and known.endswith(bare):
        score = max(score, 0.85)
    return score


def column_likeness(wanted: str, column: str, table: TableShape) -> float:
    """How likely a name that a table has not means this column of it, between 0 and 1."""
    if _digits(wanted) != _digits(column):
        return 0.0
    wanted, name = wanted.lower(), column.lower()
    flat, known, own = wanted.replace("_", ""), name.replace("_", ""), singular(table.name.lower()).replace("_", "")
    if flat == known:
        return 0.97
    if flat == own + known or known == own + flat:
        return 0.92
    if table.primary == (column,) and flat in ("id", own + "id"):
        return 0.9
    score = similarity(wanted, name)
    left, right = set(name_tokens(wanted)), set(name_tokens(name))
    if left and right:
        shared = len(left & right) / max(len(left), len(right))
        score = max(score, 0.5 + 0.4 * shared if shared >= 0.5 else 0.0)
        # What is asked beyond the column's own words is the name of its table.
        if right <= left and not left - right - set(name_tokens(table.name)):
            score = max(score, 0.88)
    if len(flat) >= 4 and known.endswith(flat):
        score = max(score, 0.8)
    return min(score, 0.95)
