"""`nightshift up | down | status`: the store, the embedded server and the sample."""

from __future__ import annotations

import typer

from rag_core.cli.output import JsonOption, console, emit
from rag_core.provision import ServiceStatus, bring_up, read_status, take_down
from rag_core.settings import load_settings


def _render(status: ServiceStatus) -> None:
    state = "running" if status.running else "stopped"
    console.print(f"Store      {status.store_dsn} ({state}, {'migrated' if status.migrated else 'not migrated'})")
    console.print(f"Warehouse  {status.warehouse_dsn}")
    console.print(f"Airflow    {status.airflow_url or 'not running'}")
    if status.detail:
        console.print(status.detail)


def register(app: typer.Typer) -> None:
    """Adds the commands to the command line."""

    @app.command()
    def up(as_json: JsonOption = False) -> None:
        """Start and migrate the store; on the default also the sample warehouse."""
        status = bring_up(load_settings())
        emit(status, as_json=as_json, render=lambda: _render(status))

    @app.command()
    def down(as_json: JsonOption = False) -> None:
        """Stop the embedded server. External servers are left alone."""
        settings = load_settings()
        take_down(settings)
        status = read_status(settings)
        emit(status, as_json=as_json, render=lambda: _render(status))

    @app.command()
    def status(as_json: JsonOption = False) -> None:
        """Show what is running; starts nothing. Exit code 3 where the store does not answer."""
        current = read_status(load_settings())
        emit(current, as_json=as_json, render=lambda: _render(current))
        if not current.running:
            raise typer.Exit(3)
