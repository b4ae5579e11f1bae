"""Load the sample warehouse into an empty database, in one transaction, once per seed and version."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import psycopg
from psycopg import sql

from sample.warehouse.generate import GENERATOR_VERSION, TABLES, generate

_SCHEMA = Path(__file__).with_name("schema.sql")
_CONSTRAINTS = Path(__file__).with_name("constraints.sql")
# Any number will do, as long as nobody else takes it: two loaders must not drop each other's tables.
_LOCK = 7_031_118
_IDENTITIES = (("public", "customers", "customer_id"), ("public", "SalesTarget", "TargetId"))


class WarehouseNotEmptyError(Exception):
    """The database holds tables that this loader did not make: choose an empty database for the sample."""


def load_warehouse(conninfo: str, *, seed: int = 7, anew: bool = False) -> dict[str, int]:
    """Create and fill the sample warehouse; return the rows of each table by ``schema.table``.

    Connects as an owner of the database. What the same seed and generator version loaded is only counted, or with
    `anew` dropped and made again as what another one loaded is. Grants nothing to anybody.

    Raises ``WarehouseNotEmptyError`` if tables of others are in the way, ``psycopg.Error`` if the database
    refuses; either leaves the database as it was.
    """
    with psycopg.connect(conninfo, application_name="nightshift sample") as connection:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        present = _marker(connection)
        if anew or present != marker(seed):
            if present is None:
                _refuse_foreign_tables(connection)
            else:
                _drop(connection)
            _create(connection, seed)
        return _counts(connection)


def is_loaded(conninfo: str, *, seed: int = 7) -> bool:
    """Whether the database holds the sample warehouse of this seed and of this generator version."""
    with psycopg.connect(conninfo, application_name="nightshift sample") as connection:
        return _marker(connection) == marker(seed)


def marker(seed: int) -> str:
    """The text that ends the comment of schema ``ops`` and tells what was loaded."""
    return f"Sample warehouse, seed {seed}, version {GENERATOR_VERSION}."


def _marker(connection: psycopg.Connection) -> str | None:
    comment = _comment(connection)
    start = comment.find("Sample warehouse, seed ")
    return comment[start:] if start >= 0 else None


def _comment(connection: psycopg.Connection) -> str:
    """The comment of schema ``ops``, empty if there is none."""
    row = connection.execute(
        "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = 'ops'"
    ).fetchone()
    return str(row[0]) if row and row[0] else ""


def _refuse_foreign_tables(connection: psycopg.Connection) -> None:
    rows = connection.execute(
        """
        SELECT n.nspname || '.' || c.relname
        FROM pg_class AS c
        INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
        WHERE (n.nspname = 'ops' OR (n.nspname = 'public' AND c.relname = ANY(%s)))
            AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        ORDER BY 1
        """,
        ([*(name.partition(".")[2] for name in TABLES), "active_customers", "monthly_revenue"],),
    ).fetchall()
    if rows:
        names = ", ".join(row[0] for row in rows[:5])
        raise WarehouseNotEmptyError(
            f"database {connection.info.dbname} holds {names}, not made by the sample: use an empty database"
        )


def _drop(connection: psycopg.Connection) -> None:
    """Drop what an earlier version made, by name: schema public may hold extensions."""
    connection.execute("DROP MATERIALIZED VIEW IF EXISTS public.monthly_revenue")
    connection.execute("DROP VIEW IF EXISTS public.active_customers")
    for name in reversed(TABLES):
        table = sql.Identifier(*name.split("."))
        connection.execute(sql.SQL("DROP TABLE IF EXISTS {} CASCADE").format(table))
    connection.execute("DROP TYPE IF EXISTS public.customer_segment")
    connection.execute("DROP SCHEMA IF EXISTS ops CASCADE")


def _create(connection: psycopg.Connection, seed: int) -> None:
    connection.execute(_SCHEMA.read_text(encoding="utf-8"))
    for name, rows in generate(seed):
        statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
            sql.Identifier(*name.split(".")), sql.SQL(", ").join(map(sql.Identifier, TABLES[name]))
        )
        with connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)
    connection.execute(_CONSTRAINTS.read_text(encoding="utf-8"))
    for schema, table, column in _IDENTITIES:
        _continue_identity(connection, sql.Identifier(schema, table), column)
    connection.execute("REFRESH MATERIALIZED VIEW public.monthly_revenue")
    described = f"{_comment(connection)} {marker(seed)}"
    connection.execute(sql.SQL("COMMENT ON SCHEMA ops IS {}").format(sql.Literal(described)))
    for name in [*TABLES, "public.monthly_revenue"]:
        connection.execute(sql.SQL("ANALYZE {}").format(sql.Identifier(*name.split("."))))


def _continue_identity(connection: psycopg.Connection, table: sql.Identifier, column: str) -> None:
    """Let the next number follow the highest one loaded."""
    statement = sql.SQL("SELECT setval(pg_get_serial_sequence(%s, %s), (SELECT max({}) FROM {}))")
    name = table.as_string(connection)
    connection.execute(statement.format(sql.Identifier(column), table), (name, column))


def _counts(connection: psycopg.Connection) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in TABLES:
        statement = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(*name.split(".")))
        row = connection.execute(statement).fetchone()
        counts[name] = int(row[0]) if row else 0
    return counts


def main(argv: Sequence[str] | None = None) -> int:
    """Load the sample into the database named on the command line and print the rows of each table."""
    parser = argparse.ArgumentParser(prog="python -m sample.warehouse.load", description=main.__doc__)
    parser.add_argument("conninfo", help="libpq connection string of an empty database, as its owner")
    parser.add_argument("--seed", type=int, default=7, help="seed number of the rows (default 7)")
    arguments = parser.parse_args(argv)
    try:
        counts = load_warehouse(arguments.conninfo, seed=arguments.seed)
    except (WarehouseNotEmptyError, psycopg.Error) as error:
        sys.stderr.write(f"sample warehouse not loaded: {error}\n")
        return 1
    for name, count in counts.items():
        sys.stdout.write(f"{count:>9,}  {name}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
