"""`nightshift up | down | status`: the store, the embedded server and the sample."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Protocol

import typer

from rag_core.cli.output import JsonOption, console, emit
from rag_core.provision import STOPPED, ServiceStatus, bring_up, read_status, take_down
from rag_core.settings import Settings, load_settings


class RunningService(Protocol):
    """A service of a package above the core, known by the entry-point group `nightshift.services`."""

    def running_url(self) -> str | None:
        """Its address, or None where it does not run."""
        ...

    def stop(self) -> bool:
        """Stops it; returns whether it was running."""
        ...


def _services(settings: Settings) -> list[RunningService]:
    found = sorted(entry_points(group="nightshift.services"), key=lambda point: point.name)
    return [point.load()(settings) for point in found]


def _with_airflow(status: ServiceStatus, settings: Settings) -> ServiceStatus:
    urls = [url for url in (service.running_url() for service in _services(settings)) if url is not None]
    return status.model_copy(update={"airflow_url": urls[0] if urls else None})


def _render(status: ServiceStatus, *, stopped: bool = False) -> None:
    # A server that does not run cannot tell whether it is migrated.
    state = f" (running, {'migrated' if status.migrated else 'not migrated'})" if status.running else ""
    console.print(f"Store      {status.store_dsn}{state}", soft_wrap=True)
    console.print(f"Warehouse  {status.warehouse_dsn}", soft_wrap=True)
    console.print(f"Airflow    {status.airflow_url or 'not running'}")
    # After `down` a server that does not run is what was asked for: no reason is given, as for a fault.
    if status.detail and not (stopped and status.store_dsn == STOPPED):
        console.print(status.detail)


def register(app: typer.Typer) -> None:
    """Adds the commands to the command line."""

    @app.command()
    def up(as_json: JsonOption = False) -> None:
        """Start and migrate the store; on the default also the sample warehouse."""
        settings = load_settings()
        status = _with_airflow(bring_up(settings), settings)
        emit(status, as_json=as_json, render=lambda: _render(status))

    @app.command()
    def down(as_json: JsonOption = False) -> None:
        """Stop the local Airflow and the embedded server. External servers are left alone."""
        settings = load_settings()
        for service in _services(settings):
            service.stop()
        take_down(settings)
        status = _with_airflow(read_status(settings), settings)
        emit(status, as_json=as_json, render=lambda: _render(status, stopped=True))

    @app.command()
    def status(as_json: JsonOption = False) -> None:
        """Show what is running; starts nothing. Exit code 3 where the store does not answer."""
        settings = load_settings()
        current = _with_airflow(read_status(settings), settings)
        emit(current, as_json=as_json, render=lambda: _render(current))
        if not current.running:
            raise typer.Exit(3)
