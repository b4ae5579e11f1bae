"""The local Airflow: its environment, its process file and the port."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from nightshift_airflow.server import AirflowServer, airflow_environment, airflow_home
from rag_core.errors import ConfigurationError
from rag_core.settings import Settings, load_settings

KEYS = {"fernet": "f", "jwt": "j", "session": "s"}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return load_settings(home=tmp_path, airflow={"port": port}, _env_file=None)


def test_the_metadata_database_is_given_to_both_drivers(settings: Settings) -> None:
    found = airflow_environment(settings, "postgresql://postgres@/airflow?host=%2Frun%2Fpg", KEYS)
    assert found["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"].startswith("postgresql+psycopg://postgres@/airflow?host=")
    assert found["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN_ASYNC"].startswith("postgresql+psycopg_async://")


def test_airflow_listens_on_loopback_only(settings: Settings) -> None:
    found = airflow_environment(settings, "postgresql://postgres@/airflow", KEYS)
    assert found["AIRFLOW__API__HOST"] == "127.0.0.1"
    assert found["AIRFLOW__CORE__EXECUTION_API_SERVER_URL"].startswith("http://127.0.0.1:")


def test_tasks_get_the_sample_documents_by_default(settings: Settings) -> None:
    found = airflow_environment(settings, "postgresql://postgres@/airflow", KEYS)
    assert json.loads(found["NIGHTSHIFT_INGESTION__SOURCES"]) == [str(settings.home / "sample" / "documents")]


def test_a_busy_port_is_said_in_one_line_and_nothing_is_written(settings: Settings) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", settings.airflow.port))
        taken.listen()
        with pytest.raises(ConfigurationError, match=f"port {settings.airflow.port} .* NIGHTSHIFT_AIRFLOW__PORT"):
            AirflowServer(settings).start()
    assert not airflow_home(settings).exists()


def test_a_process_id_that_was_given_away_again_is_not_ours(settings: Settings) -> None:
    server = AirflowServer(settings)
    server.home.mkdir(parents=True)
    (server.home / "airflow.pid").write_text(f"{os.getpid()} 12345.0")
    assert server.process() is None
    assert server.running_url() is None
    assert not server.stop()
    assert not (server.home / "airflow.pid").exists()


def test_stop_ends_the_whole_family(settings: Settings) -> None:
    server = AirflowServer(settings)
    server.home.mkdir(parents=True)
    # Stands in for `standalone`: a child that outlives a parent which ignores nothing.
    child = subprocess.Popen(
        [sys.executable, "-c", "import subprocess, time; subprocess.Popen(['sleep', '60']); time.sleep(60)"],
        start_new_session=True,
    )
    process = psutil.Process(child.pid)
    while not process.children():
        pass
    family = [process, *process.children()]
    (server.home / "airflow.pid").write_text(f"{child.pid} {process.create_time()}")
    assert server.running_url() == server.url
    assert server.stop(seconds=1)
    child.wait(timeout=5)
    assert not any(member.is_running() and member.status() != psutil.STATUS_ZOMBIE for member in family)


@pytest.mark.parametrize("port", ["0", "65536", "99999", "-1", "abc"])
def test_a_port_that_is_none_is_one_line(monkeypatch: pytest.MonkeyPatch, port: str) -> None:
    monkeypatch.setenv("NIGHTSHIFT_AIRFLOW__PORT", port)
    with pytest.raises(ConfigurationError, match="NIGHTSHIFT_AIRFLOW__PORT"):
        load_settings()
