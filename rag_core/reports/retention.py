"""Retention: whole months are dropped as partitions, which costs no scan and leaves no holes."""

from __future__ import annotations

from datetime import date

import psycopg

from rag_core.connectors.sql_files import statement
from rag_core.reports.audit import append_event


def drop_months(connection: psycopg.Connection, before: date, *, actor: str) -> list[str]:
    """Drops the months that lie wholly before a day; returns the names of the partitions. Recorded in the audit."""
    rows = connection.execute(statement("reports/drop_partitions"), {"before": before}).fetchall()
    dropped = [row[0] for row in rows]
    append_event(
        connection,
        actor=actor,
        action="reports.pruned",
        target=f"before {before.isoformat()}",
        detail={"partitions": dropped},
    )
    return dropped
