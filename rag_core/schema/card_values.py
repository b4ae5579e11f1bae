"""Values of columns that hold few different ones, so that a word of a question leads to its column.

"Germany" is in no table's name; that `country.name` holds it is what brings the table onto the card.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from rag_core.connectors.base import Warehouse
from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable
from rag_core.datamodel.query import GuardVerdict, Limits
from rag_core.errors import QueryFault, ServiceUnavailable
from rag_core.policy.names import name_rules
from rag_core.schema.keys import is_key_name
from rag_core.schema.lookups import LEAST_SECONDS, Lookups, TimeBudget
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
        kept: what was read before, by this process or another; it is given what is read now. None keeps nothing.
        seconds: time for reading one catalog. What is not read by then is left out, until a process reads on.
        looks: most statements for reading one catalog, None for as many as there are columns.
        closed: tables whose values are not read.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        check: Callable[[str], GuardVerdict],
        *,
        kept: Lookups | None = None,
        seconds: float | None = None,
        looks: int | None = None,
        closed: frozenset[str] = frozenset(),
    ) -> None:
        self._warehouse = warehouse
        self._check = check
        self._kept = kept
        self._seconds = seconds
        self._looks = looks
        self._closed = closed
        self._lock = threading.Lock()
        self._catalog: Catalog | None = None
        self._values: CardValues = {}
        self._left_out = 0

    def of(self, catalog: Catalog) -> CardValues:
        """The values of a catalog, read anew when it is another one than the last time."""
        with self._lock:
            if self._catalog is not catalog:
                self._read_all(catalog)
                self._catalog = catalog
            return self._values

    @property
    def left_out(self) -> int:
        """Columns of the last catalog that were not read in time."""
        return self._left_out

    def _read_all(self, catalog: Catalog) -> None:
        budget = TimeBudget(self._seconds, looks=self._looks)
        self._values, self._left_out = _read_columns(
            [item for item in _listed(catalog) if item[0].qualified_name not in self._closed],
            _Reader(self._warehouse, self._check, budget, MAX_VALUES),
            self._kept,
        )
        if self._left_out:
            logger.info("the values of %d columns were not read within the budget", self._left_out)
        if self._kept is not None:
            self._kept.save()


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
    reader = _Reader(warehouse, check, TimeBudget(None), max_values)
    return _read_columns(_listed(catalog)[:max_statements], reader, None)[0]


def _listed(catalog: Catalog) -> list[tuple[CatalogTable, CatalogColumn]]:
    columns = ((table, column) for table in catalog.tables for column in table.columns)
    return [item for item in columns if _may_be_listed(*item)][:MAX_STATEMENTS]


def _read_columns(
    columns: Sequence[tuple[CatalogTable, CatalogColumn]], reader: _Reader, kept: Lookups | None
) -> tuple[CardValues, int]:
    """The values that could be read, in the order of `columns`, and how many columns there was no time for."""
    found: dict[str, tuple[str, ...] | None] = {f"{table.qualified_name}.{c.name}": None for table, c in columns}
    # Small tables hold what is looked for by name, and are read quickly: they come first where time is short. Of views
    # and of tables that nobody has analysed the size is not known.
    for table, column in sorted(columns, key=lambda item: _rows(item[0])):
        name = f"{table.qualified_name}.{column.name}"
        known = kept.get("values", name) if kept is not None else None
        if known is not None:
            found[name] = tuple(known)
            continue
        values = found[name] = reader.read(table, column)
        if values is not None and kept is not None:
            kept.put("values", name, values)
    left_out = sum(values is None for values in found.values())
    return {name: values for name, values in found.items() if values}, left_out


def _may_be_listed(table: CatalogTable, column: CatalogColumn) -> bool:
    # A unique name such as country.name is what questions use; a key is what they never spell out.
    key = any(key.columns == (column.name,) for key in table.keys) and is_key_name(column.name)
    text = canonical_type(column.type).name in _TEXT
    return table.readable and column.readable and text and not key and not column.enum_labels


def _rows(table: CatalogTable) -> float:
    return math.inf if table.row_estimate is None else table.row_estimate


@dataclass(frozen=True, slots=True)
class _Reader:
    warehouse: Warehouse
    check: Callable[[str], GuardVerdict]
    budget: TimeBudget
    max_values: int

    def read(self, table: CatalogTable, column: CatalogColumn) -> tuple[str, ...] | None:
        """The values, none where they are too many or may not be read; None where there was no time or no answer."""
        left = self.budget.left()
        if left <= 0:
            return None
        self.budget.spend()
        verdict = self.check(_statement(self.warehouse.dialect, table, column, self.max_values))
        if verdict.query is None:
            return ()
        seconds = min(STATEMENT_SECONDS, verdict.query.limits.timeout_seconds)
        limits = Limits(max_rows=self.max_values + 1, timeout_seconds=min(seconds, max(left, LEAST_SECONDS)))
        try:
            rows = self.warehouse.execute(verdict.query.model_copy(update={"limits": limits})).rows
        except QueryFault as fault:
            logger.info("the values of %s.%s were not read: %s", table.qualified_name, column.name, fault.message)
            cut_short = fault.code == "timeout" and limits.timeout_seconds < seconds
            return None if cut_short or fault.code == "transient" else ()
        except ServiceUnavailable:
            if math.isinf(left):
                raise
            # The question itself will tell that the warehouse does not answer.
            self.budget.end()
            return None
        values = [str(row[0]) for row in rows if row[0] is not None]
        if len(rows) > self.max_values or any(len(value) > MAX_LENGTH for value in values):
            return ()
        # A null character is no part of a word, and the store cannot keep it.
        return tuple(sorted(value for value in values if value.strip() and "\0" not in value))


def _statement(dialect: str, table: CatalogTable, column: CatalogColumn, max_values: int) -> str:
    rules = name_rules(dialect)
    rows = (
        exp.select(exp.alias_(exp.Column(this=rules.identifier(column.name)), "card_value"))
        .from_(exp.Table(this=rules.identifier(table.name), db=rules.identifier(table.schema_name)))
        .limit(MAX_ROWS)
    )
    values = exp.select(exp.column("card_value")).distinct().from_(rows.subquery("card_rows")).limit(max_values + 1)
    return values.sql(dialect=dialect)
