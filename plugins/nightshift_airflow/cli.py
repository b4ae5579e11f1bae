"""`nightshift airflow start | stop | status`: the local Airflow on loopback."""

from __future__ import annotations

import typer

from rag_core.cli.output import JsonOption, console, emit
from rag_core.settings import load_settings


def register(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    group = typer.Typer(
        help="The local Airflow (scheduler, dag-processor, triggerer, api-server).", no_args_is_help=True
    )
    app.add_typer(group, name="airflow")

    @group.command()
    def start(as_json: JsonOption = False) -> None:
        """Start Airflow on loopback and wait until it is healthy."""
        from nightshift_airflow.server import AirflowServer  # noqa: PLC0415 - httpx, psutil
        from rag_core.provision import bring_up  # noqa: PLC0415

        settings = load_settings()
        server = AirflowServer(settings)
        server.check_port()
        bring_up(settings)
        server.start()
        server.wait_until_healthy()
        username, _ = server.credentials()

        def render() -> None:
            console.print(f"Airflow runs at {server.url}, user {username}; the password is in")
            console.print(f"{server.home / 'passwords.json'}", soft_wrap=True)
            console.print("DAGs start paused: switch on those that shall run by their schedule.")

        emit({"airflow_url": server.url, "username": username, "running": True}, as_json=as_json, render=render)

    @group.command()
    def stop(as_json: JsonOption = False) -> None:
        """Stop the local Airflow with all its processes."""
        from nightshift_airflow.server import AirflowServer  # noqa: PLC0415 - httpx, psutil

        was_running = AirflowServer(load_settings()).stop()
        message = "Airflow is stopped." if was_running else "Airflow was not running."
        emit({"running": False, "was_running": was_running}, as_json=as_json, render=lambda: console.print(message))

    @group.command()
    def status(as_json: JsonOption = False) -> None:
        """Show whether the local Airflow runs and is healthy; exit code 3 where it is not."""
        from nightshift_airflow.server import AirflowServer  # noqa: PLC0415 - httpx, psutil

        server = AirflowServer(load_settings())
        running, healthy = server.process() is not None, server.healthy()

        def render() -> None:
            console.print(f"Airflow at {server.url}: {'healthy' if healthy else 'running' if running else 'stopped'}")

        emit({"airflow_url": server.url, "running": running, "healthy": healthy}, as_json=as_json, render=render)
        if not healthy:
            raise typer.Exit(3)
