"""The demo's change of the sample: found, told, and put back so that the next demo starts as the first."""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from rich.console import Console

from nightshift_airflow import demo_drift
from rag_core.cli.drift import check_services
from rag_core.connectors.embedded import READER_ROLE, WAREHOUSE_DATABASE, EmbeddedPostgres
from rag_core.provision import bring_up, take_down
from rag_core.settings import Settings
from rag_core.wiring import Services

pytestmark = pytest.mark.integration


@pytest.fixture
def settings() -> Iterator[Settings]:
    home = Path(tempfile.mkdtemp(prefix="ns"))
    found = Settings(home=home, _env_file=None)  # type: ignore[call-arg]
    bring_up(found)
    yield found
    take_down(found)
    shutil.rmtree(home, ignore_errors=True)


def test_change_is_found_and_undone(settings: Settings) -> None:
    with Services(settings) as services:
        assert check_services(services).status == "baseline"
    assert not demo_drift.is_changed(settings)
    for _ in range(2):  # a second demo does the same
        demo_drift.change_sample(settings)
        assert demo_drift.is_changed(settings)
        with Services(settings) as services:
            report = check_services(services)
        found = {(change.kind, change.object, change.confidence) for change in report.changes}
        assert ("column_renamed", "public.monthly_margins.net_margin", 1.0) in found
        assert ("column_removed", "public.monthly_margins.freight_cost", 1.0) in found
        console = Console(record=True, width=200, file=io.StringIO())
        demo_drift.show_changes(settings, console)
        shown = console.export_text()
        assert "column removed: public.monthly_margins.freight_cost" in shown
        assert "metrics freight_cost, freight_share" in shown

        back = demo_drift.put_back(settings)
        assert len(back.reverted) == 2
        assert back.open_events == 0
        assert not demo_drift.is_changed(settings)
    with psycopg.connect(EmbeddedPostgres(settings.home).dsn(WAREHOUSE_DATABASE, READER_ROLE)) as connection:
        rows = connection.execute("SELECT count(*), sum(freight_cost) > 0 FROM public.monthly_margins").fetchone()
    assert rows is not None
    assert rows[0] > 100
    assert rows[1]
