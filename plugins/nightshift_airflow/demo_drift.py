"""The demo's second night: the warehouse changes, the drift DAG finds it, and the batch runs all the same.

Only the embedded sample is changed, and it is put back at the end: the next demo, and every question, finds it whole.
"""

from __future__ import annotations

from datetime import timedelta

import psycopg
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from rag_core.connectors.embedded import STORE_DATABASE, WAREHOUSE_DATABASE, EmbeddedPostgres
from rag_core.connectors.sql_files import script, statement
from rag_core.connectors.store import Store
from rag_core.datamodel.drift import DriftEvent, DriftReport
from rag_core.provision import BI_ROLE, ensure_reader_role
from rag_core.schema.events import list_events
from rag_core.settings import Settings
from rag_core.wiring import SAMPLE_AS_OF, Services

BATCH = "nightly_business_review"
# The night after the sample's own: its answers stand beside those of the first run, not in their place.
SECOND_NIGHT = (SAMPLE_AS_OF + timedelta(days=1)).isoformat()
# What sql/scripts/change_sample.sql does.
RENAMED, NEW_NAME, DROPPED = "net_margin", "net_result", "freight_cost"
_WATCHED = ("nordics_margin", "freight_cost")


def change_sample(settings: Settings) -> None:
    """Renames one margin column of the sample warehouse and drops another, as its owner."""
    with psycopg.connect(_owner_dsn(settings), autocommit=True) as connection:
        connection.execute(script("change_sample"))


def is_changed(settings: Settings) -> bool:
    """Whether a demo that was cut off has left the sample changed."""
    with psycopg.connect(_owner_dsn(settings)) as connection:
        found = connection.execute(
            statement("catalog/count_columns"),
            {"table_name": "public.monthly_margins", "columns": [RENAMED, DROPPED]},
        ).fetchone()
    return found is None or found[0] < 2


def put_back(settings: Settings) -> DriftReport:
    """Loads the sample anew and checks its schema, which closes the events of the demo by itself."""
    from rag_core.cli.drift import check_services  # noqa: PLC0415 - heavy
    from sample.warehouse.load import load_warehouse  # noqa: PLC0415 - only in a checkout

    load_warehouse(_owner_dsn(settings), anew=True)
    ensure_reader_role(_owner_dsn(settings))
    with Services(settings) as services:
        return check_services(services, actor="demo")


def show_changes(settings: Settings, console: Console) -> None:
    """Prints what the drift DAG found and whom it hurts."""
    store = Store(EmbeddedPostgres(settings.home).dsn(STORE_DATABASE))
    try:
        events = list_events(store, state="open")
    finally:
        store.close()
    # Names are folded, not cut: somebody may want to copy one.
    folded = (Column(name, overflow="fold") for name in ("Event", "Severity", "Change", "Touches"))
    table = Table(*folded, title="What changed, and whom it hurts", show_lines=True)
    for event in events:
        table.add_row(str(event.event_id), event.change.severity, escape(_change(event)), escape(_touched(event)))
    console.print(table)


def show_answers(settings: Settings, console: Console) -> None:
    """Prints how the second night answered the two questions that the change touches."""
    dsn = EmbeddedPostgres(settings.home).dsn(STORE_DATABASE, BI_ROLE)
    with psycopg.connect(dsn) as connection:
        rows = connection.execute(
            statement("reports/list_answers_of_night"),
            {"batch": BATCH, "run_date": SECOND_NIGHT, "question_ids": list(_WATCHED)},
        ).fetchall()
    table = Table("Question", "Status", "Answer", title="The same questions after the change", show_lines=True)
    for question, status, answer in rows:
        table.add_row(escape(question), status, escape(answer.strip()))
    console.print(table)


def _owner_dsn(settings: Settings) -> str:
    return EmbeddedPostgres(settings.home).dsn(WAREHOUSE_DATABASE)


def _change(event: DriftEvent) -> str:
    change = event.change
    kind = change.kind.replace("_", " ")
    return f"{kind}: {change.object}" + (f" -> {change.after}" if change.after else "")


def _touched(event: DriftEvent) -> str:
    questions = {item.question_id for item in event.change.affected if item.question_id}
    metrics = {item.metric for item in event.change.affected if item.metric}
    owners = {item.owner for item in event.change.affected if item.owner}
    parts = (("questions", questions), ("metrics", metrics), ("owned by", owners))
    return "; ".join(f"{name} {', '.join(sorted(found))}" for name, found in parts if found) or "nobody"
