"""Alerts on open drift events: once an event, one message an owner, through any channel."""

from __future__ import annotations

import json
import smtplib
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from email.message import EmailMessage
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.base import Record
from rag_core.datamodel.drift import DriftEvent
from rag_core.errors import ConfigurationError, ServiceUnavailable
from rag_core.schema.events import event_of

NOBODY = "unowned"
TIMEOUT_SECONDS = 15.0


class Alert(Record):
    """One message for one owner about the events that touch what they look after."""

    owner: str
    subject: str
    text: str
    event_ids: tuple[int, ...]


def group_alerts(events: Sequence[DriftEvent]) -> tuple[Alert, ...]:
    """One alert an owner, owners in order; an event that touches nobody's work goes to `unowned`."""
    by_owner: defaultdict[str, list[DriftEvent]] = defaultdict(list)
    for event in events:
        owners = {item.owner for item in event.change.affected if item.owner} or {NOBODY}
        for owner in sorted(owners):
            by_owner[owner].append(event)
    return tuple(_alert(owner, by_owner[owner]) for owner in sorted(by_owner))


def send_alerts(store: Store, send: Callable[[Alert], None], *, now: datetime | None = None) -> tuple[Alert, ...]:
    """Sends what nobody was told yet and notes that it was; returns what was sent.

    Two that run at once do not send the same twice. Where `send` raises, what was sent before stays noted and the rest
    is sent next time; an event is noted once all its owners were told.

    Args:
        store: where events are kept.
        send: the channel; it raises where the message could not be handed over.
        now: time that is noted.
    """
    moment = now if now is not None else datetime.now(UTC)
    sent: list[Alert] = []
    with store.connection() as connection:
        rows = connection.execute(statement("drift/list_unalerted_events")).fetchall()
        alerts = group_alerts([event_of(row) for row in rows])
        fault: Exception | None = None
        for alert in alerts:
            try:
                send(alert)
            except (ServiceUnavailable, ConfigurationError) as error:
                fault = error
                break
            sent.append(alert)
        waiting = {event for alert in alerts[len(sent) :] for event in alert.event_ids}
        told = sorted({event for alert in sent for event in alert.event_ids} - waiting)
        connection.execute(statement("drift/mark_alerted"), {"event_ids": told, "moment": moment})
    if fault is not None:
        raise fault
    return tuple(sent)


def webhook(url: str) -> Callable[[Alert], None]:
    """A channel that posts each alert as JSON (`text` is what chat services show)."""
    if not url.startswith(("https://", "http://")):
        raise ConfigurationError("the webhook must be an http or https URL")

    def send(alert: Alert) -> None:
        body = json.dumps({"text": f"{alert.subject}\n{alert.text}", **alert.model_dump(mode="json", exclude={"text"})})
        request = Request(url, data=body.encode(), headers={"Content-Type": "application/json"}, method="POST")
        try:
            with urlopen(request, timeout=TIMEOUT_SECONDS):
                return
        except HTTPError as error:
            error.close()
            raise ServiceUnavailable(f"the webhook for drift alerts answered {error.code}") from None
        except (URLError, TimeoutError) as error:
            reason = getattr(error, "reason", None) or type(error).__name__
            raise ServiceUnavailable(f"the webhook for drift alerts did not take the message: {reason}") from error

    return send


def mail(host: str, sender: str, recipients: Sequence[str], *, port: int = 25) -> Callable[[Alert], None]:
    """A channel that sends each alert as plain text through an SMTP server."""

    def send(alert: Alert) -> None:
        message = EmailMessage()
        message["Subject"], message["From"], message["To"] = alert.subject, sender, ", ".join(recipients)
        message.set_content(alert.text)
        try:
            with smtplib.SMTP(host, port, timeout=TIMEOUT_SECONDS) as server:
                server.send_message(message)
        except (OSError, smtplib.SMTPException) as error:
            raise ServiceUnavailable(f"the mail server for drift alerts refused the message: {error}") from error

    return send


def _alert(owner: str, events: Sequence[DriftEvent]) -> Alert:
    breaking = sum(event.change.severity == "breaking" for event in events)
    subject = f"Warehouse schema: {len(events)} changes for {owner}, {breaking} of them breaking"
    return Alert(
        owner=owner,
        subject=subject,
        text="\n".join(_line(event, owner) for event in events),
        event_ids=tuple(event.event_id for event in events),
    )


def _line(event: DriftEvent, owner: str) -> str:
    change = event.change
    names = [item.question_id or item.id for item in change.affected if item.owner in (owner, "")]
    touched = f"; touches {', '.join(dict.fromkeys(names))}" if names else ""
    values = " -> ".join(" ".join(value.split()) for value in (change.before, change.after) if value)
    return f"[{event.event_id}] {change.severity}: {change.kind} {change.object} ({values}){touched}"
