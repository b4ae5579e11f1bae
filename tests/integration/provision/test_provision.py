"""The store and the sample on a fresh folder."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
from pydantic import SecretStr

from rag_core.connectors.embedded import (
    READER_ROLE,
    SETTINGS_MARK,
    STORE_DATABASE,
    WAREHOUSE_DATABASE,
    EmbeddedPostgres,
)
from rag_core.connectors.migrations import migrate, read_migrations
from rag_core.errors import ConfigurationError, ServiceUnavailable
from rag_core.provision import BI_ROLE, bring_up, read_status, take_down
from rag_core.settings import Settings, StoreSettings, load_settings
from rag_core.wiring import Services

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def settings() -> Iterator[Settings]:
    """Settings whose home is a fresh folder with a short path."""
    home = Path(tempfile.mkdtemp(prefix="ns"))
    chosen = load_settings(home=home, _env_file=None)
    try:
        yield chosen
    finally:
        take_down(chosen)
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="module")
def server(settings: Settings) -> EmbeddedPostgres:
    bring_up(settings)
    return EmbeddedPostgres(settings.home)


def test_nothing_runs_before(tmp_path: Path) -> None:
    status = read_status(load_settings(home=tmp_path, _env_file=None))
    assert not status.running
    assert not status.migrated


def test_up_is_repeatable(settings: Settings, server: EmbeddedPostgres) -> None:
    assert server.running
    status = bring_up(settings)
    assert status.running
    assert status.migrated


def test_its_memory_is_set_once_and_an_administrator_may_change_it() -> None:
    home = Path(tempfile.mkdtemp(prefix="ns"))
    server = EmbeddedPostgres(home)

    def buffers() -> int:
        """In megabytes."""
        with psycopg.connect(server.dsn("postgres"), autocommit=True) as connection:
            row = connection.execute(
                "SELECT setting::int / 128 FROM pg_settings WHERE name = 'shared_buffers'"
            ).fetchone()
        assert row is not None
        return int(row[0])

    try:
        server.start()
        assert buffers() == max(128, min(512, psutil.virtual_memory().total // 2**20 // 8))
        with psycopg.connect(server.dsn("postgres"), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET shared_buffers = '96MB'")
        server.stop()
        server.start()
        assert buffers() == 96
        assert (server.folder / "postgresql.conf").read_text().count(SETTINGS_MARK) == 1
    finally:
        server.stop()
        shutil.rmtree(home, ignore_errors=True)


def test_a_server_that_was_stopped_starts_again_in_the_same_process() -> None:
    home = Path(tempfile.mkdtemp(prefix="ns"))
    again = EmbeddedPostgres(home)
    try:
        for _ in range(2):
            assert again.start()
            with psycopg.connect(again.dsn("postgres")) as connection:
                assert connection.execute("SELECT 1").fetchone() == (1,)
            assert again.stop()
            assert not again.running
    finally:
        again.stop()
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def killed() -> Iterator[EmbeddedPostgres]:
    """A server that this process started, with a row, and that was then killed with -9."""
    home = Path(tempfile.mkdtemp(prefix="ns"))
    server = EmbeddedPostgres(home)
    try:
        server.start()
        with psycopg.connect(server.dsn("postgres")) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 42 AS kept")
        process = psutil.Process(int((server.folder / "postmaster.pid").read_text().split()[0]))
        process.kill()
        process.wait(30)
        yield server
    finally:
        server.stop()
        shutil.rmtree(home, ignore_errors=True)


def _kept(server: EmbeddedPostgres) -> object:
    with psycopg.connect(server.dsn("postgres")) as connection:
        return connection.execute("SELECT kept FROM kept").fetchone()


def test_a_killed_server_is_known_to_be_gone_and_starts_again_in_the_same_process(killed: EmbeddedPostgres) -> None:
    assert not killed.running
    with pytest.raises(ServiceUnavailable, match="nightshift up"):
        killed.dsn("postgres")
    assert killed.start()
    assert _kept(killed) == (42,)
    assert not killed.start()


def test_another_program_with_the_process_id_of_a_killed_server_is_not_taken_for_it(killed: EmbeddedPostgres) -> None:
    file = killed.folder / "postmaster.pid"
    _, *rest = file.read_text().split("\n")
    file.write_text("\n".join([str(os.getpid()), *rest]))
    assert not killed.running
    assert killed.start()
    assert _kept(killed) == (42,)


def test_a_file_of_the_server_that_is_just_being_written_is_no_fault(killed: EmbeddedPostgres) -> None:
    file = killed.folder / "postmaster.pid"
    whole = file.read_text()
    for length in range(0, len(whole), 7):
        file.write_text(whole[:length])
        assert not killed.running
    file.write_text(whole)


def test_the_reader_reads_and_cannot_write(server: EmbeddedPostgres) -> None:
    with psycopg.connect(server.dsn(WAREHOUSE_DATABASE, READER_ROLE), autocommit=True) as connection:
        row = connection.execute("SELECT count(*) FROM orders").fetchone()
        assert row is not None
        assert row[0] > 10_000
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connection.execute("CREATE TABLE x (i integer)")
        connection.execute("SET default_transaction_read_only = off")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("DELETE FROM orders")


def test_the_role_for_bi_tools_sees_reports_only(server: EmbeddedPostgres) -> None:
    with psycopg.connect(server.dsn(STORE_DATABASE, BI_ROLE), autocommit=True) as connection:
        assert connection.execute("SELECT count(*) FROM answer_latest").fetchone() is not None
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT * FROM nightshift.batch_run")
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connection.execute("CREATE TABLE public.x (i integer)")


def test_services_find_the_running_server(settings: Settings, server: EmbeddedPostgres) -> None:
    assert server.running
    with Services(settings) as services, services.store.connection() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_changed_migration_is_refused(server: EmbeddedPostgres) -> None:
    first, *others = read_migrations()
    changed = type(first)(first.version, first.name, first.text, "0" * 64)
    with pytest.raises(ConfigurationError, match="0001_create_schemas was changed after it had been applied"):
        migrate(server.dsn(STORE_DATABASE), (changed, *others))


def test_a_migration_that_fails_leaves_nothing_behind(server: EmbeddedPostgres) -> None:
    server.ensure_database("half")
    good = read_migrations()[0]
    bad = type(good)(9_000, "break", "CREATE TABLE nightshift.left_over (i integer); SELECT 1 / 0;", "x")
    with pytest.raises(psycopg.errors.DivisionByZero):
        migrate(server.dsn("half"), (good, bad))
    with psycopg.connect(server.dsn("half")) as connection:
        assert connection.execute("SELECT to_regclass('nightshift.left_over')").fetchone() == (None,)
        assert connection.execute("SELECT version FROM nightshift.schema_migration").fetchall() == [(1,)]


def test_a_store_that_does_not_answer_is_said_in_one_line(tmp_path: Path) -> None:
    settings = load_settings(
        home=tmp_path,
        store={"dsn": "postgresql://ana:geheim@127.0.0.1:1/x"},
        warehouse={"dsn": "postgresql://127.0.0.1:1/y"},
        _env_file=None,
    )
    with pytest.raises(ServiceUnavailable, match="cannot connect to the store") as caught:
        bring_up(settings)
    assert "geheim" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_store_that_is_no_postgresql_is_refused(tmp_path: Path) -> None:
    settings = load_settings(
        home=tmp_path, store={"dsn": "duckdb:///x"}, warehouse={"dsn": "duckdb:///y"}, _env_file=None
    )
    with pytest.raises(ConfigurationError, match="must be a PostgreSQL URL"):
        bring_up(settings)


def test_a_home_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(ConfigurationError, match="set NIGHTSHIFT_HOME"):
        bring_up(load_settings(home=tmp_path / "file" / "home", _env_file=None))


def test_a_full_disk_is_said_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=20 * 2**20))
    with pytest.raises(ConfigurationError, match=r"has 20 MB free and needs 500: free some space"):
        bring_up(load_settings(home=tmp_path / "home", _env_file=None))
    assert list((tmp_path / "home" / "postgres").iterdir()) == []


def test_a_wrong_password_is_said_in_one_line_and_not_repeated(settings: Settings, server: EmbeddedPostgres) -> None:
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as connection:
        connection.execute("CREATE ROLE locked LOGIN PASSWORD 'right'")
        row = connection.execute("SHOW hba_file").fetchone()
        assert row is not None
        rules = Path(row[0])
        before = rules.read_text()
        rules.write_text(f"local all locked scram-sha-256\n{before}")
        connection.execute("SELECT pg_reload_conf()")
        try:
            dsn = server.dsn(STORE_DATABASE, "locked").replace("locked@", "locked:geheim@")
            outside = settings.model_copy(update={"store": StoreSettings(dsn=SecretStr(dsn))})
            with pytest.raises(ServiceUnavailable, match="password authentication failed") as caught:
                bring_up(outside)
        finally:
            rules.write_text(before)
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("DROP ROLE locked")
    assert "geheim" not in str(caught.value)
    assert "\n" not in str(caught.value)
