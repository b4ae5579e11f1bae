"""What columns hold, in shares and hashes, so that a column is known again under another name.

A profile of a column that is gone cannot be taken any more, so those of the columns that questions read are kept night
by night. Values leave the warehouse through the SQL guard, as all that questions read, and are stored as hashes only.
"""

from __future__ import annotations

import hashlib
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import psycopg
from psycopg.types.json import Jsonb
from sqlglot import exp

from rag_core.connectors.base import Warehouse
from rag_core.connectors.sql_files import statement
from rag_core.datamodel.catalog import CatalogTable
from rag_core.datamodel.drift import Lineage
from rag_core.datamodel.query import GuardVerdict
from rag_core.errors import QueryFault, ServiceUnavailable
from rag_core.schema.rename import ValueProfile

logger = logging.getLogger(__name__)

SAMPLE_ROWS = 1_000
# The smallest hashes of a column: two samples of the same values share most of them, whichever rows they are of.
KEPT_HASHES = 64
MAX_TABLES = 200
RENEWED_AFTER = timedelta(days=7)
# There a LIMIT does not bound what is read, and paid for.
_UNPROFILED = frozenset({"bigquery"})

Profiles = dict[tuple[str, str], ValueProfile]


class Profiler:
    """Reads profiles of columns through the guard: at most 1,000 rows of a table, one statement a table."""

    def __init__(self, warehouse: Warehouse, check: Callable[[str], GuardVerdict]) -> None:
        self._warehouse = warehouse
        self._check = check

    def read(self, table: CatalogTable, columns: Sequence[str]) -> dict[str, ValueProfile]:
        """Profiles by column; none where the policy or the warehouse does not let them be read."""
        dialect = self._warehouse.dialect
        wanted = [name for name in columns if table.column(name) is not None]
        if not wanted or dialect in _UNPROFILED:
            return {}
        source = exp.table_(
            exp.to_identifier(table.name, quoted=True), db=exp.to_identifier(table.schema_name, quoted=True)
        )
        query = exp.select(*(exp.column(exp.to_identifier(name, quoted=True)) for name in wanted)).from_(source)
        verdict = self._check(query.limit(SAMPLE_ROWS).sql(dialect=dialect))
        if verdict.query is None:
            # The policy may hide one of them only.
            alone = wanted if len(wanted) > 1 else []
            return {name: profile for one in alone for name, profile in self.read(table, [one]).items()}
        try:
            rows = self._warehouse.execute(verdict.query).rows
        except (QueryFault, ServiceUnavailable) as error:
            logger.info("%s could not be profiled: %s", table.qualified_name, error)
            return {}
        return {name: profile_of([row[index] for row in rows]) for index, name in enumerate(wanted) if rows}


def profile_of(values: Sequence[Any]) -> ValueProfile:
    """The profile of some values of a column; there must be one."""
    present = [_text(value) for value in values if value is not None]
    hashes = sorted({hashlib.sha256(text.encode()).hexdigest()[:12] for text in present})
    return ValueProfile(
        null_share=round(1 - len(present) / len(values), 4),
        distinct_share=round(len(hashes) / len(present), 4) if present else 0.0,
        sample=frozenset(hashes[:KEPT_HASHES]),
    )


def read_columns(lineage: Iterable[Lineage]) -> dict[str, list[str]]:
    """The columns that plans, metrics and queries read, by table, of at most 200 tables."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name in {column for entry in lineage for column in entry.columns}:
        table, _, column = name.rpartition(".")
        found[table].add(column)
    return {table: sorted(found[table]) for table in sorted(found)[:MAX_TABLES]}


def save_profiles(
    connection: psycopg.Connection, warehouse: str, table: str, profiles: Mapping[str, ValueProfile], moment: datetime
) -> None:
    """Keeps profiles of a table's columns, in the place of earlier ones."""
    if not profiles:
        return
    connection.execute(
        statement("drift/save_profiles"),
        {
            "warehouse": warehouse,
            "table_name": table,
            "columns": list(profiles),
            "profiles": [Jsonb({**p.model_dump(mode="json"), "sample": sorted(p.sample)}) for p in profiles.values()],
            "moment": moment,
        },
    )


def read_profiles(connection: psycopg.Connection, warehouse: str, tables: Iterable[str]) -> Profiles:
    """Kept profiles of these tables, by table and column."""
    rows = connection.execute(
        statement("drift/list_profiles"), {"warehouse": warehouse, "tables": sorted(set(tables))}
    ).fetchall()
    return {(table, column): ValueProfile.model_validate(profile) for table, column, profile, _ in rows}


def renew_profiles(
    connection: psycopg.Connection,
    warehouse: str,
    tables: Sequence[CatalogTable],
    columns: Mapping[str, Sequence[str]],
    profiler: Profiler,
    moment: datetime,
) -> int:
    """Takes the profiles of `columns` that are missing or a week old; returns how many."""
    rows = connection.execute(
        statement("drift/list_profiles"), {"warehouse": warehouse, "tables": sorted(columns)}
    ).fetchall()
    fresh = {(table, column) for table, column, _, taken_at in rows if moment - taken_at < RENEWED_AFTER}
    done = 0
    for table in tables:
        name = table.qualified_name
        due = [column for column in columns.get(name, ()) if (name, column) not in fresh]
        profiles = profiler.read(table, due)
        save_profiles(connection, warehouse, name, profiles, moment)
        done += len(profiles)
    return done


def _text(value: Any) -> str:
    # 1.50 and 1.5 are one value.
    return format(value.normalize(), "f") if isinstance(value, Decimal) and value.is_finite() else str(value)
