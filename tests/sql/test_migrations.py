"""Every migration applies on a real PostgreSQL, in order; a second run changes nothing; every query fits the result."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql

from rag_core.connectors.migrations import migrate, pending_migrations, read_migrations
from rag_core.errors import ConfigurationError

if TYPE_CHECKING:
    from rag_core.connectors.embedded import EmbeddedPostgres

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[2]
OTHER_DATABASES = ("duckdb", "snowflake", "bigquery", "redshift")
QUERIES = sorted(
    path
    for path in (ROOT / "sql" / "queries").rglob("*.sql")
    if not (path.parent.name == "catalog" and path.stem.startswith(OTHER_DATABASES))
)
# PREPARE takes queries only; everything else is run, on a database of its own.
QUERY = re.compile(r"\s*(--[^\n]*\n\s*)*(SELECT|INSERT|UPDATE|DELETE|MERGE|WITH|VALUES|TABLE)\b", re.IGNORECASE)
# What psycopg puts in for an `{identifier}`, or a literal where none but a literal may stand.
IDENTIFIERS = {
    "dimensions": "384",
    "version": "1",
    "index": "checked_index",
    "view": "reports.q_checked",
    "columns": ", max(c.row_number) AS checked",
    "batch": "'a_batch'",
    "question_id": "'a_question'",
    "schema": "reports",
    "wanted": "batch",
    "table": "reports.dim_run",
    "of_run": "run_date IS NOT NULL",
    "guarded_statement": "(SELECT 1 AS one)",
    "most_bytes": "1",
    "database": "sql_checked_copy",
    "source": "template1",
    "schema_name": "checked",
    "table_name": "thing",
    "column_name": "old",
    "new_name": "new",
}
# Where one name is not the same in all of them, and what must be there before.
OF_ONE_QUERY = {
    "evaluation/drop_column": {"column_name": "gone"},
    "evaluation/retype_column": {"column_name": "kind", "new_type": "bigint"},
    "evaluation/drop_view": {"table_name": "seen"},
    "evaluation/drop_kept_view": {"table_name": "kept"},
}
CHECKED = """
CREATE SCHEMA checked;
CREATE TABLE checked.thing (old integer, gone integer, kind integer);
CREATE VIEW checked.seen AS SELECT 1 AS one;
CREATE MATERIALIZED VIEW checked.kept AS SELECT 1 AS one;
"""


@pytest.fixture(scope="module")
def checked_dsn(pg_server: EmbeddedPostgres, create_store: Callable[[str], str]) -> Iterator[str]:
    """A migrated store that the checked statements may change."""
    dsn = create_store("sql_checked")
    with psycopg.connect(dsn) as connection:
        connection.execute(CHECKED)
    yield dsn
    with psycopg.connect(pg_server.dsn("postgres"), autocommit=True) as connection:
        connection.execute("DROP DATABASE sql_checked")
        connection.execute("DROP DATABASE IF EXISTS sql_checked_copy")


@pytest.fixture
def fresh_dsn(pg_server: EmbeddedPostgres, request: pytest.FixtureRequest) -> Iterator[str]:
    """An empty database of this test alone."""
    name = re.sub(r"\W", "_", f"sql_{request.node.name}")[:60]
    pg_server.ensure_database(name)
    yield pg_server.dsn(name)
    with psycopg.connect(pg_server.dsn("postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {}").format(sql.Identifier(name)))


def _relations(dsn: str) -> list[tuple[str, str, str, str]]:
    with psycopg.connect(dsn) as connection:
        return connection.execute(
            "SELECT n.nspname, c.relname, c.relkind::text, coalesce(pg_get_indexdef(i.indexrelid), '')"
            " FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
            " LEFT JOIN pg_index AS i ON i.indexrelid = c.oid"
            " WHERE n.nspname IN ('nightshift', 'reports') ORDER BY 1, 2, 3, 4"
        ).fetchall()


def test_migrations_apply_in_order_and_a_second_run_changes_nothing(fresh_dsn: str) -> None:
    wanted = [f"{migration.version:04d}_{migration.name}" for migration in read_migrations()]

    assert migrate(fresh_dsn) == wanted
    after_first = _relations(fresh_dsn)
    assert migrate(fresh_dsn) == []

    assert _relations(fresh_dsn) == after_first
    with psycopg.connect(fresh_dsn) as connection:
        recorded = connection.execute(
            "SELECT version, name, digest FROM nightshift.schema_migration ORDER BY version"
        ).fetchall()
    assert recorded == [(each.version, each.name, each.digest) for each in read_migrations()]


def test_each_migration_applies_alone_after_those_before_it(fresh_dsn: str) -> None:
    """As an upgrade meets them: one version after the other, each in a transaction of its own."""
    migrations = read_migrations()
    for count, migration in enumerate(migrations, start=1):
        assert migrate(fresh_dsn, migrations[:count]) == [f"{migration.version:04d}_{migration.name}"]


def test_a_changed_migration_is_refused(fresh_dsn: str) -> None:
    migrations = read_migrations()
    migrate(fresh_dsn, migrations[:1])
    changed = (type(migrations[0])(1, migrations[0].name, migrations[0].text, "0" * 64),)
    with (
        psycopg.connect(fresh_dsn) as connection,
        pytest.raises(ConfigurationError, match="was changed after it had been applied"),
    ):
        pending_migrations(connection, changed)


def test_a_migration_that_fails_leaves_nothing_behind(fresh_dsn: str) -> None:
    migrations = read_migrations()
    migrate(fresh_dsn, migrations[:1])
    before = _relations(fresh_dsn)
    bad = type(migrations[0])(9999, "break_half", "CREATE TABLE nightshift.half (x int); SELECT 1/0;", "1" * 64)

    with pytest.raises(psycopg.errors.DivisionByZero):
        migrate(fresh_dsn, (migrations[0], bad))

    assert _relations(fresh_dsn) == before


def test_every_relation_of_the_reports_is_described(store_dsn: str) -> None:
    """BI tools show comments: every view and table of `reports`, and every column of a view, has one."""
    with psycopg.connect(store_dsn) as connection:
        bare = connection.execute(
            "SELECT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
            " WHERE n.nspname = 'reports' AND c.relkind IN ('r', 'p', 'v', 'm') AND NOT c.relispartition"
            " AND c.relname !~ '^q_' AND obj_description(c.oid, 'pg_class') IS NULL ORDER BY 1"
        ).fetchall()
        columns = connection.execute(
            "SELECT c.relname || '.' || a.attname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
            " JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
            " WHERE n.nspname = 'reports' AND c.relkind IN ('v', 'm') AND c.relname !~ '^q_'"
            " AND col_description(c.oid, a.attnum) IS NULL ORDER BY 1"
        ).fetchall()
    assert bare == []
    assert columns == []


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_query_fits_the_migrated_store(checked_dsn: str, path: Path) -> None:
    """PostgreSQL itself parses and resolves each statement: every table, column, type and function in it exists."""
    text = path.read_text(encoding="utf-8").strip().rstrip(";")
    for name, value in {**IDENTIFIERS, **OF_ONE_QUERY.get(f"{path.parent.name}/{path.stem}", {})}.items():
        text = text.replace("{" + name + "}", value)
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", text)))
    for number, name in enumerate(names, start=1):
        text = text.replace(f"%({name})s", f"${number}")
    text = text.replace("%%", "%")
    # Some commands are allowed in no transaction.
    with psycopg.connect(checked_dsn, autocommit=True) as connection, connection.cursor() as cursor:
        if QUERY.match(text):
            cursor.execute(b"PREPARE checked AS " + text.encode())
        elif text.startswith("COPY"):
            with cursor.copy(text.encode()):
                pass
        else:
            assert not names, "a command takes no parameters"
            cursor.execute(text.encode())
