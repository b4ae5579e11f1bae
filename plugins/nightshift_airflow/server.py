"""A local Airflow on loopback: scheduler, dag-processor, triggerer and api-server, with its metadata on PostgreSQL."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psutil

from rag_core.connectors.dsn import parse_dsn
from rag_core.connectors.embedded import AIRFLOW_DATABASE, EmbeddedPostgres
from rag_core.connectors.sql_files import files_root
from rag_core.errors import ConfigurationError, ServiceUnavailable
from rag_core.provision import sample_documents_folder
from rag_core.settings import Settings

START_SECONDS = 180.0
# The parent gives its children twelve seconds; what is left then is ended the hard way.
STOP_SECONDS = 20.0


def airflow_environment(settings: Settings, metadata_dsn: str, keys: dict[str, str]) -> dict[str, str]:
    """The environment of every Airflow process, as variables on top of the caller's own.

    Args:
        settings: Nightshift's settings; what is configured there is handed on to the tasks.
        metadata_dsn: libpq-style URL of Airflow's metadata database.
        keys: `fernet`, `jwt` and `session`, kept over restarts so that logins and connections survive them.
    """
    url = parse_dsn(metadata_dsn, setting="the metadata database")
    root = files_root()
    home = airflow_home(settings)
    base = f"http://{settings.airflow.host}:{settings.airflow.port}"
    own = {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": url.set(drivername="postgresql+psycopg").render_as_string(False),
        # Without the second, Airflow looks for asyncpg.
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN_ASYNC": url.set(drivername="postgresql+psycopg_async").render_as_string(
            False
        ),
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        "AIRFLOW__CORE__PARALLELISM": "4",
        "AIRFLOW__CORE__DAGS_FOLDER": str(root / "dags"),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(root / "plugins"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DEFAULT_TIMEZONE": "UTC",
        "AIRFLOW__CORE__FERNET_KEY": keys["fernet"],
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{base}/execution/",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": f"{settings.airflow.username}:admin",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(home / "passwords.json"),
        "AIRFLOW__API__HOST": settings.airflow.host,
        "AIRFLOW__API__PORT": str(settings.airflow.port),
        "AIRFLOW__API__BASE_URL": base,
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__API__SECRET_KEY": keys["session"],
        "AIRFLOW__API_AUTH__JWT_SECRET": keys["jwt"],
        "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "10",
        "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "30",
        "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.5",
        # A killed worker is noticed within a minute and a half, and what a killed scheduler had under way within one.
        "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "90",
        "AIRFLOW__SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": "60",
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "INFO",
        "NIGHTSHIFT_HOME": str(settings.home),
        # Torch and Docling would start a thread a core in each of several tasks at once.
        "OMP_NUM_THREADS": "2",
        "TOKENIZERS_PARALLELISM": "false",
    }
    if not settings.ingestion.sources and settings.embedded_warehouse:
        own["NIGHTSHIFT_INGESTION__SOURCES"] = json.dumps([str(sample_documents_folder(settings))])
    return {**os.environ, **own, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}


def airflow_home(settings: Settings) -> Path:
    """Folder of Airflow's configuration and logs."""
    return settings.home / "airflow"


class AirflowServer:
    """Starts, finds and stops the local Airflow. One process group, known by a file with its process id."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.home = airflow_home(settings)
        self.url = f"http://{settings.airflow.host}:{settings.airflow.port}"
        self._pid_file = self.home / "airflow.pid"

    @property
    def log_file(self) -> Path:
        """Output of all Airflow processes."""
        return self.home / "airflow.log"

    def process(self) -> psutil.Process | None:
        """The parent of Airflow's processes, or None. A process id that was given away again is not mistaken for it."""
        try:
            pid, started = self._pid_file.read_text().split()
            process = psutil.Process(int(pid))
            alive = process.is_running() and process.status() != psutil.STATUS_ZOMBIE
            return process if alive and abs(process.create_time() - float(started)) < 2 else None
        except (OSError, ValueError, psutil.Error):
            return None

    def running_url(self) -> str | None:
        """Address of the running Airflow, or None where it does not run."""
        return self.url if self.process() is not None else None

    def credentials(self) -> tuple[str, str]:
        """User name and password of the administrator."""
        known = json.loads((self.home / "passwords.json").read_text())
        return self.settings.airflow.username, known[self.settings.airflow.username]

    def start(self) -> bool:
        """Starts Airflow in the background and returns at once; returns whether it had to be started."""
        if self.process() is not None:
            return False
        self.check_port()
        self.home.mkdir(parents=True, exist_ok=True)
        if shutil.which("airflow", path=str(Path(sys.executable).parent)) is None:
            raise ConfigurationError("the command airflow is not installed in this environment: run `make setup`")
        environment = airflow_environment(self.settings, self._metadata_dsn(), self._keys())
        self._write_password()
        with self.log_file.open("ab") as log:
            child = subprocess.Popen(
                [sys.executable, "-m", "nightshift_airflow.processes"],
                env=environment,
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._pid_file.write_text(f"{child.pid} {psutil.Process(child.pid).create_time()}")
        return True

    def healthy(self) -> bool:
        """Whether api-server, scheduler, dag-processor and triggerer all report health."""
        try:
            reply = httpx.get(f"{self.url}/api/v2/monitor/health", timeout=5)
        except httpx.HTTPError:
            return False
        if reply.status_code != httpx.codes.OK:
            return False
        parts = reply.json()
        return all(
            (parts.get(name) or {}).get("status") == "healthy"
            for name in ("metadatabase", "scheduler", "dag_processor", "triggerer")
        )

    def wait_until_healthy(self, seconds: float = START_SECONDS) -> None:
        """Returns when Airflow is healthy; raises ServiceUnavailable when it ends or the time is over."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.healthy():
                return
            if self.process() is None:
                raise ServiceUnavailable(f"Airflow ended while starting; its log is {self.log_file}")
            time.sleep(0.5)
        raise ServiceUnavailable(f"Airflow was not healthy within {seconds:.0f} seconds; its log is {self.log_file}")

    def stop(self, seconds: float = STOP_SECONDS) -> bool:
        """Stops Airflow with all its processes; returns whether it was running."""
        process = self.process()
        if process is None:
            self._pid_file.unlink(missing_ok=True)
            return False
        family = {*process.children(recursive=True), *_session_of(process.pid), process}
        process.send_signal(signal.SIGINT)
        _, left = psutil.wait_procs(list(family), timeout=seconds)
        for straggler in left:
            straggler.kill()
        psutil.wait_procs(left, timeout=5)
        self._pid_file.unlink(missing_ok=True)
        return True

    def check_port(self) -> None:
        """Raises ConfigurationError where another program listens on the port; nothing is started for nothing."""
        if self.process() is not None:
            return
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((self.settings.airflow.host, self.settings.airflow.port))
            except OSError as error:
                raise ConfigurationError(
                    f"port {self.settings.airflow.port} on {self.settings.airflow.host} is not free "
                    f"({error.strerror}): stop what uses it or set NIGHTSHIFT_AIRFLOW__PORT"
                ) from error

    def _metadata_dsn(self) -> str:
        server = EmbeddedPostgres(self.settings.home)
        server.start()
        server.ensure_database(AIRFLOW_DATABASE)
        return server.dsn(AIRFLOW_DATABASE)

    def _keys(self) -> dict[str, str]:
        path = self.home / "keys.json"
        if not path.exists():
            from cryptography.fernet import Fernet  # noqa: PLC0415 - only when a new Airflow home is made

            keys = {
                "fernet": Fernet.generate_key().decode(),
                "jwt": secrets.token_urlsafe(48),
                "session": secrets.token_urlsafe(48),
            }
            _write_private(path, json.dumps(keys))
        loaded: dict[str, str] = json.loads(path.read_text())
        return loaded

    def _write_password(self) -> None:
        path = self.home / "passwords.json"
        wanted = self.settings.airflow.password
        user = self.settings.airflow.username
        known = json.loads(path.read_text()) if path.exists() else {}
        if wanted is not None:
            known[user] = wanted.get_secret_value()
        elif user not in known:
            known[user] = secrets.token_urlsafe(12)
        _write_private(path, json.dumps(known))


def _session_of(leader: int) -> list[psutil.Process]:
    """Every process of a session: also those whose own parent was killed and that no tree of children shows."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == leader:
                found.append(process)
        except OSError:  # ended meanwhile, or not ours to ask about
            continue
    return found


def _write_private(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_text(text)
