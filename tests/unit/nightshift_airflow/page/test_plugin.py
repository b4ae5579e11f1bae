"""What every Airflow process pays for the page: next to nothing, and of our folder of plugins only one file is run."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, cast

import pytest

from tests.unit.house.source import ROOT

PLUGINS = ROOT / "plugins"
PROBE = """
import json, sys
import airflow.configuration, airflow.plugins_manager
before = set(sys.modules)
from nightshift_airflow.registration import NightshiftPlugin as plugin
new = sorted(set(sys.modules) - before)
print(json.dumps({"new": new, "views": plugin.external_views, "prefix": plugin.fastapi_apps[0]["url_prefix"]}))
"""


def _probe(tmp_path: Path, base_url: str) -> dict[str, Any]:
    environment = {
        "AIRFLOW_HOME": str(tmp_path),
        "AIRFLOW__API__BASE_URL": base_url,
        "PYTHONPATH": str(PLUGINS),
        "PATH": "/usr/bin:/bin",
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROBE], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_registering_imports_next_to_nothing(tmp_path: Path) -> None:
    found = _probe(tmp_path, "http://localhost:8080")
    new = cast("list[str]", found["new"])
    light = ("nightshift_airflow", "airflow.", "rag_core")
    assert [name for name in new if not name.startswith(light)] == []
    pages = [name for name in new if name.startswith(("nightshift_airflow.page.", "rag_core."))]
    assert pages == ["nightshift_airflow.page.plugin", "rag_core.errors"]


def test_the_page_is_found_where_airflow_lives_below_a_path(tmp_path: Path) -> None:
    found = _probe(tmp_path, "https://data.example/airflow/")
    (view,) = found["views"]
    assert view["href"] == "/airflow/nightshift/"
    assert view["icon"] == "/airflow/nightshift/static/moon.svg"
    assert found["prefix"] == "/nightshift"


# Only the package made for the test counts: the one that the tests run in is installed too, with its own entry points.
LOADED = """
import json, pathlib, sys
from importlib import metadata as own
if sys.version_info < (3, 12):
    import importlib_metadata as own  # what Airflow asks there
site, every = pathlib.Path(sys.argv[1]), own.distributions
own.distributions = lambda **given: [
    each
    for each in every(**given)
    if each.metadata["Name"] != "nightshift-analytics" or pathlib.Path(each.locate_file("")) == site
]
from airflow import plugins_manager
plugins, errors = plugins_manager._get_plugins()
names, sources = sorted(each.name for each in plugins), sorted({str(each.source) for each in plugins})
print(json.dumps([names, sources, errors]))
"""


@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize("folder", [True, False])
def test_airflow_registers_page_and_pools_once(tmp_path: Path, installed: bool, folder: bool) -> None:
    """By the installed package, by the folder of plugins, or by both; without either they are not there."""
    metadata = tmp_path / "site" / "nightshift_analytics-0.1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: nightshift-analytics\nVersion: 0.1.0\n")
    if installed:
        points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["airflow.plugins"]
        lines = ["[airflow.plugins]", *(f"{name} = {target}" for name, target in points.items())]
        (metadata / "entry_points.txt").write_text("\n".join(lines))
    (tmp_path / "empty").mkdir()
    environment = {
        "AIRFLOW_HOME": str(tmp_path),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(PLUGINS if folder else tmp_path / "empty"),
        "PYTHONPATH": f"{tmp_path / 'site'}:{PLUGINS}",
        "PATH": "/usr/bin:/bin",
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LOADED, str(tmp_path / "site")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    names, sources, errors = json.loads(done.stdout.splitlines()[-1])
    assert names == (["nightshift", "nightshift_pools"] if installed or folder else [])
    assert errors == {}
    assert all(("EntryPoint" in source) is installed for source in sources)


def test_airflow_runs_the_registration_alone() -> None:
    ignored = (PLUGINS / ".airflowignore").read_text(encoding="utf-8").splitlines()
    assert "nightshift_airflow/" in ignored
    assert [path.name for path in PLUGINS.glob("*.py")] == ["nightshift_plugin.py"]
