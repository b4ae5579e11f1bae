"""Values of columns that hold few different ones, so that a word of a question leads to its column.

"Germany" is in no table's name; that `country.name` holds it is what brings the table onto the card.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from sqlglot import exp

from rag_core.connectors.base import Warehouse
from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable
from rag_core.datamodel.query import GuardedSql, GuardVerdict, Limits
from rag_core.errors import QueryFault
from rag_core.policy.names import name_rules
from rag_core.schema.keys import is_key_name
from rag_core.schema.types import canonical_type

logger = logging.getLogger(__name__)

# Different values that a column may hold to be listed, rows looked at, and characters of a value.
MAX_VALUES = 200
MAX_ROWS = 20_000
MAX_LENGTH = 60
MAX_STATEMENTS = 500
STATEMENT_SECONDS = 5.0
_TEXT = frozenset({"text", "character varying", "character", "varchar", "char", "string", "citext", "bpchar"})

CardValues = dict[str, tuple[str, ...]]


class CardValueIndex:
    """The values of one warehouse, read once a catalog. Safe to use from several threads: one reads, the rest wait.

    Args:
        warehouse: where the values are.
        check: the guard's decision on a statement.
    """

    def __init__(self, warehouse: Warehouse, check: Callable[[str], GuardVerdict]) -> None:
        self._warehouse = warehouse
        self._check = check
        self._lock = threading.Lock()
        self._catalog: Catalog | None = None
        self._values: CardValues = {}

    def of(self, catalog: Catalog) -> CardValues:
        """The values of a catalog, read anew when it is another one than the last time."""
        with self._lock:
            if self._catalog is not catalog:
                self._values = read_card_values(catalog, self._warehouse, self._check)
                self._catalog = catalog
            return self._values


def read_card_values(
    catalog: Catalog,
    warehouse: Warehouse,
    check: Callable[[str], GuardVerdict],
    *,
    max_values: int = MAX_VALUES,
    max_statements: int = MAX_STATEMENTS,
) -> CardValues:
    """Values by `schema.table.column`, in order, of the text columns that hold at most `max_values` different ones.

    Each column is asked for with one bounded statement through the guard, so that what the policy hides or masks is
    not in the index. Columns with enum labels have theirs in the catalog already.

    Args:
        catalog: what questions may see.
        warehouse: where the values are.
        check: the guard's decision on a statement.
        max_values: columns with more different values are left out.
        max_statements: columns looked at, at most.
    """
    found: CardValues = {}
    asked = 0
    for table in catalog.tables:
        for column in table.columns:
            if not _may_be_listed(table, column) or asked >= max_statements:
                continue
            asked += 1
            values = _read(warehouse, check, table, column, max_values)
            if values:
                found[f"{table.qualified_name}.{column.name}"] = values
    return found


def _may_be_listed(table: CatalogTable, column: CatalogColumn) -> bool:
    # A unique name such as country.name is what questions use; a key is what they never spell out.
    key = any(key.columns == (column.name,) for key in table.keys) and is_key_name(column.name)
    text = canonical_type(column.type).name in _TEXT
    return table.readable and column.readable and text and not key and not column.enum_labels


def _read(
    warehouse: Warehouse,
    check: Callable[[str], GuardVerdict],
    table: CatalogTable,
    column: CatalogColumn,
    max_values: int,
) -> tuple[str, ...]:
    verdict = check(_statement(warehouse.dialect, table, column, max_values))
    if verdict.query is None:
        return ()
    try:
        rows = warehouse.execute(_bounded(verdict.query, max_values)).rows
    except QueryFault as fault:
        logger.info("the values of %s.%s were not read: %s", table.qualified_name, column.name, fault.message)
        return ()
    values = [str(row[0]) for row in rows if row[0] is not None]
    if len(rows) > max_values or any(len(value) > MAX_LENGTH for value in values):
        return ()
    return tuple(sorted(value for value in values if value.strip()))


def _bounded(query: GuardedSql, max_values: int) -> GuardedSql:
    seconds = min(STATEMENT_SECONDS, query.limits.timeout_seconds)
    return query.model_copy(update={"limits": Limits(max_rows=max_values + 1, timeout_seconds=seconds)})


def _statement(dialect: str, table: CatalogTable, column: CatalogColumn, max_values: int) -> str:
    rules = name_rules(dialect)
    rows = (
        exp.select(exp.alias_(exp.Column(this=rules.identifier(column.name)), "card_value"))
        .from_(exp.Table(this=rules.identifier(table.name), db=rules.identifier(table.schema_name)))
        .limit(MAX_ROWS)
    )
    values = exp.select(exp.column("card_value")).distinct().from_(rows.subquery("card_rows")).limit(max_values + 1)
    return values.sql(dialect=dialect)
