"""Copies the result tables to a warehouse that is not the store, so that BI tools find them beside its own data.

The store stays the truth: what is copied is what stands in `reports` for one batch and run date, so a copy can be
repeated at any time and leaves the same rows. Rows are first staged, then put in place in one transaction, so that a
reader never sees half a run. Statements are built as trees and written in the warehouse's dialect by sqlglot.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from psycopg import sql
from sqlglot import exp

from rag_core.connectors.base import TableWriter
from rag_core.connectors.sql_files import statement, template
from rag_core.connectors.store import Store
from rag_core.datamodel.base import Record
from rag_core.datamodel.report import BatchOutcome
from rag_core.errors import ConfigurationError
from rag_core.reports.mirror_views import view_statements

# By which columns of a table the rows of one batch and run date are found; `day` is the run date.
FACTS = ("run_date", "batch")
TABLES: dict[str, tuple[str, ...]] = {
    "dim_date": ("day",),
    "dim_batch": ("batch",),
    "dim_question": ("batch",),
    "dim_check": ("batch",),
    "dim_run": FACTS,
    "fact_answer": FACTS,
    "fact_answer_cell": FACTS,
    "fact_evidence": FACTS,
    "fact_sql_execution": FACTS,
    "fact_validation": FACTS,
    "fact_model_call": ("run_id",),
}
STAGING = "staging_"
LOAD_ID = "load_id"
# Cloud warehouses refuse statements of more than a megabyte.
MAX_STATEMENT_CHARACTERS = 400_000
MAX_STATEMENT_ROWS = 1_000
# Warehouses hold 38 digits, nine of them behind the point; a number beyond that stays in `value_text`.
DIGITS, DECIMALS = 38, 9
# Redshift's longest text; the store has the rest of a longer one.
TEXT_BYTES = {"redshift": 65_535}
_TYPES = {
    "text": "text",
    "uuid": "text",
    "integer": "bigint",
    "bigint": "bigint",
    "numeric": f"decimal({DIGITS}, {DECIMALS})",
    "double precision": "double",
    "boolean": "boolean",
    "date": "date",
    "timestamp with time zone": "timestamptz",
}


class Column(Record):
    """A column of a table and its type, as PostgreSQL names it."""

    name: str
    type: str


class Copied(Record):
    """How many rows of each table were put in place."""

    batch: str
    run_date: date
    rows: dict[str, int]


class ReportMirror:
    """Copies runs from the store to one schema of a warehouse; the schema and its tables are made where missing."""

    def __init__(self, store: Store, writer: TableWriter, schema: str) -> None:
        self._store = store
        self._writer = writer
        self._schema = schema
        self._columns: dict[str, tuple[Column, ...]] = {}

    def copy(self, batch: str, run_date: date) -> Copied:
        """Puts what the store has for this batch and run date in the place of what the warehouse has.

        Raises ConfigurationError where the store has nothing of it, ServiceUnavailable where store or warehouse is
        gone; then the warehouse has what it had.
        """
        self._prepare()
        load_id = uuid.uuid4().hex
        keys = {"batch": batch, "run_date": run_date, "day": run_date, "run_id": self._run_id(batch, run_date)}
        counts = {name: self._stage(name, load_id, keys) for name in TABLES}
        self._writer.run([text for name in TABLES for text in self._put_in_place(name, load_id, keys)], atomic=True)
        # After the transaction: rows that are left behind by a copy that was cut off do no harm.
        self._writer.run(
            [exp.delete(self._table(STAGING + name), where=_equal(LOAD_ID, load_id)).sql(self._writer.dialect)
             for name in TABLES]
        )  # fmt: skip
        return Copied(batch=batch, run_date=run_date, rows=counts)

    def copy_outcome(self, outcome: BatchOutcome) -> Copied | None:
        """Copies a run that has just ended; None where it was not published, or another has taken its place."""
        with self._store.connection() as connection:
            key = {"batch": outcome.batch, "run_date": outcome.run_date}
            row = connection.execute(statement("reports/find_run_id"), key).fetchone()
        if row is None or str(row[0]) != outcome.run_id:
            return None
        return self.copy(outcome.batch, outcome.run_date)

    def _prepare(self) -> None:
        if self._columns:
            return
        with self._store.connection() as connection:
            rows = connection.execute(statement("reports/list_table_columns"), {"tables": list(TABLES)}).fetchall()
        columns: dict[str, list[Column]] = {}
        for table, name, kind in rows:
            columns.setdefault(table, []).append(Column(name=name, type=kind))
        dialect = self._writer.dialect
        create = exp.Create(this=exp.Table(this=_name(self._schema)), kind="SCHEMA", exists=True)
        texts = [create.sql(dialect)]
        for table, found in columns.items():
            texts.append(self._create(table, found).sql(dialect))
            texts.append(self._create(STAGING + table, [Column(name=LOAD_ID, type="text"), *found]).sql(dialect))
        texts += view_statements(self._schema, dialect)
        self._writer.run(texts)
        self._columns = {table: tuple(found) for table, found in columns.items()}

    def _create(self, table: str, columns: Sequence[Column]) -> exp.Create:
        longest = TEXT_BYTES.get(self._writer.dialect)
        types = {**_TYPES, "text": f"varchar({longest})", "uuid": "varchar(36)"} if longest else _TYPES
        definitions = [
            exp.ColumnDef(this=_name(column.name), kind=exp.DataType.build(types[column.type])) for column in columns
        ]
        return exp.Create(this=exp.Schema(this=self._table(table), expressions=definitions), kind="TABLE", exists=True)

    def _run_id(self, batch: str, run_date: date) -> str:
        with self._store.connection() as connection:
            key = {"batch": batch, "run_date": run_date}
            row = connection.execute(statement("reports/find_run_id"), key).fetchone()
        if row is None:
            raise ConfigurationError(f"nothing is published for the batch {batch} and {run_date.isoformat()}")
        return str(row[0])

    def _stage(self, table: str, load_id: str, keys: dict[str, Any]) -> int:
        columns = self._columns[table]
        with self._store.connection() as connection:
            query = template("reports/select_copied_rows").format(
                wanted=sql.SQL(", ").join(sql.Identifier(column.name) for column in columns),
                table=sql.Identifier("reports", table),
                of_run=sql.SQL(" AND ").join(
                    sql.SQL("{} = {}").format(sql.Identifier(name), sql.Placeholder(name)) for name in TABLES[table]
                ),
            )
            rows = connection.execute(query, keys).fetchall()
        names = [column.name for column in columns]
        texts = insert_statements(
            self._table(STAGING + table),
            [LOAD_ID, *names],
            ([load_id, *row] for row in rows),
            ["text", *(column.type for column in columns)],
            self._writer.dialect,
        )
        for text in texts:
            self._writer.run([text])
        return len(rows)

    def _put_in_place(self, table: str, load_id: str, keys: dict[str, Any]) -> Iterator[str]:
        mine = exp.and_(*(_equal(name, keys[name]) for name in TABLES[table]))
        names = [_name(column.name) for column in self._columns[table]]
        yield exp.delete(self._table(table), where=mine).sql(self._writer.dialect)
        chosen = exp.select(*names).from_(self._table(STAGING + table)).where(_equal(LOAD_ID, load_id))
        yield exp.insert(chosen, self._table(table), columns=names).sql(self._writer.dialect)

    def _table(self, name: str) -> exp.Table:
        return exp.Table(this=_name(name), db=_name(self._schema))


def insert_statements(
    table: exp.Table,
    columns: Sequence[str],
    rows: Iterator[Sequence[Any]],
    types: Sequence[str],
    dialect: str,
) -> Iterator[str]:
    """INSERT statements of at most MAX_STATEMENT_ROWS rows and about MAX_STATEMENT_CHARACTERS characters each."""
    head = exp.insert(exp.select("1"), table, columns=[_name(name) for name in columns]).sql(dialect)
    head = head[: head.rindex("SELECT")]
    part: list[str] = []
    size = 0
    for row in rows:
        cells = ", ".join(
            literal(_shortened(value, dialect), kind).sql(dialect) for value, kind in zip(row, types, strict=True)
        )
        if part and (len(part) == MAX_STATEMENT_ROWS or size + len(cells) > MAX_STATEMENT_CHARACTERS):
            yield f"{head}VALUES {', '.join(part)}"
            part, size = [], 0
        part.append(f"({cells})")
        size += len(cells)
    if part:
        yield f"{head}VALUES {', '.join(part)}"


def _shortened(value: Any, dialect: str) -> Any:
    longest = TEXT_BYTES.get(dialect)
    if longest is None or not isinstance(value, str) or len(value.encode()) <= longest:
        return value
    return value.encode()[: longest - 3].decode(errors="ignore") + "…"


def literal(value: Any, kind: str) -> exp.Expression:
    """A value of a PostgreSQL type as a literal of any dialect; what no warehouse holds becomes NULL."""
    if value is None:
        return exp.Null()
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, datetime):
        return exp.cast(exp.Literal.string(value.isoformat(sep=" ")), "timestamptz")
    if isinstance(value, date):
        return exp.cast(exp.Literal.string(value.isoformat()), "date")
    if isinstance(value, Decimal):
        if not value.is_finite() or value.adjusted() >= DIGITS - DECIMALS:
            return exp.Null()
        text = format(round(value, DECIMALS), "f")
        return exp.cast(exp.Literal.string(text), _TYPES["numeric"])
    if isinstance(value, float):
        return exp.cast(exp.Literal.string(repr(value)), "double")
    if isinstance(value, int) and kind != "text":
        return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))
    # A NUL cannot stand in a text anywhere; the store holds none.
    return exp.Literal.string(str(value))


def _equal(name: str, value: Any) -> exp.Expression:
    return exp.EQ(this=exp.column(_name(name)), expression=literal(value, ""))


def _name(name: str) -> exp.Identifier:
    """Unquoted: each database folds it as its own users write it."""
    return exp.to_identifier(name, quoted=False)
