"""What every Airflow process pays for the page: next to nothing, and of our folder of plugins only one file is run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

from tests.unit.house.source import ROOT

PLUGINS = ROOT / "plugins"
PROBE = """
import json, sys
import airflow.configuration, airflow.plugins_manager
before = set(sys.modules)
import nightshift_plugin
plugin = nightshift_plugin.NightshiftPlugin
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
    light = ("nightshift_plugin", "nightshift_airflow", "airflow.", "rag_core")
    assert [name for name in new if not name.startswith(light)] == []
    pages = [name for name in new if name.startswith(("nightshift_airflow.page.", "rag_core."))]
    assert pages == ["nightshift_airflow.page.plugin", "rag_core.errors"]


def test_the_page_is_found_where_airflow_lives_below_a_path(tmp_path: Path) -> None:
    found = _probe(tmp_path, "https://data.example/airflow/")
    (view,) = found["views"]
    assert view["href"] == "/airflow/nightshift/"
    assert view["icon"] == "/airflow/nightshift/static/moon.svg"
    assert found["prefix"] == "/nightshift"


def test_airflow_runs_the_registration_alone() -> None:
    ignored = (PLUGINS / ".airflowignore").read_text(encoding="utf-8").splitlines()
    assert "nightshift_airflow/" in ignored
    assert [path.name for path in PLUGINS.glob("*.py")] == ["nightshift_plugin.py"]
