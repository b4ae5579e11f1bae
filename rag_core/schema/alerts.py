"""Alerts on open drift events: once an event, one message an owner, through any channel."""

from __future__ import annotations

import smtplib
import ssl
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from email.message import EmailMessage
from importlib import import_module
from typing import Any, NamedTuple

import psycopg

from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.connectors.webhook import check_url, post_json
from rag_core.datamodel.base import Record
from rag_core.datamodel.drift import DriftEvent
from rag_core.errors import ConfigurationError, ServiceUnavailable
from rag_core.schema.events import event_of

NOBODY = "unowned"
TIMEOUT_SECONDS = 15.0


class MailServer(NamedTuple):
    """An SMTP server and who sends through it; `security` is none, starttls or tls."""

    host: str
    sender: str
    port: int = 25
    security: str = "none"
    username: str | None = None
    password: str | None = None

    def connect(self) -> smtplib.SMTP:
        """An open and, where there is a user, logged-in connection."""
        context = ssl.create_default_context()
        server: smtplib.SMTP
        if self.security == "tls":
            server = smtplib.SMTP_SSL(self.host, self.port, timeout=TIMEOUT_SECONDS, context=context)
        else:
            server = smtplib.SMTP(self.host, self.port, timeout=TIMEOUT_SECONDS)
            if self.security == "starttls":
                server.starttls(context=context)
        if self.username is not None:
            server.login(self.username, self.password or "")
        return server


class Alert(Record):
    """One message for one owner about the events that touch what they look after."""

    owner: str
    subject: str
    text: str
    event_ids: tuple[int, ...]


Channel = Callable[[Alert], None]


def send_alerts(
    store: Store, channels: Mapping[str, Channel], *, now: datetime | None = None
) -> tuple[tuple[str, Alert], ...]:
    """Sends over each channel what an owner was not told over it yet; returns what was sent, with the channel.

    Two that run at once do not send the same twice. What a channel does not take is sent next time; the other channels
    and owners are told all the same, and the first fault is raised at the end. An event is done once all its owners
    were told over all channels, so that a channel that is added later says nothing of the past.

    Args:
        store: where events are kept.
        channels: by name; a channel raises ServiceUnavailable or ConfigurationError where it does not take a message.
        now: time that is noted.
    """
    moment = now if now is not None else datetime.now(UTC)
    sent: list[tuple[str, Alert]] = []
    refused: set[tuple[str, str]] = set()
    fault: Exception | None = None
    while channels:
        # Each message has a transaction of its own: a process that dies has told of what it has noted.
        with store.connection() as connection:
            connection.execute(statement("drift/lock_alerts"))
            waiting = _waiting(connection, channels)
            due = next((item for item in waiting if (item[0], item[1].owner) not in refused), None)
            if due is None:
                open_events = {event for _, alert in waiting for event in alert.event_ids}
                told = [event.event_id for event in _open(connection) if event.event_id not in open_events]
                connection.execute(statement("drift/mark_alerted"), {"event_ids": told, "moment": moment})
                break
            channel, alert = due
            try:
                channels[channel](alert)
            except (ServiceUnavailable, ConfigurationError) as error:
                fault = fault or error
                refused.add((channel, alert.owner))
                continue
            connection.execute(
                statement("drift/insert_alert"),
                {"event_ids": list(alert.event_ids), "owner": alert.owner, "channel": channel, "moment": moment},
            )
            sent.append((channel, alert))
    if fault is not None:
        raise fault
    return tuple(sent)


def _open(connection: psycopg.Connection) -> list[DriftEvent]:
    return [event_of(row) for row in connection.execute(statement("drift/list_unalerted_events")).fetchall()]


def _waiting(connection: psycopg.Connection, channels: Mapping[str, Channel]) -> list[tuple[str, Alert]]:
    """What is still to be sent, by channel."""
    events = _open(connection)
    told = {tuple(row) for row in connection.execute(statement("drift/list_alerts")).fetchall()}
    found: list[tuple[str, Alert]] = []
    for channel in channels:
        for owner, concerned in _by_owner(events).items():
            due = [event for event in concerned if (event.event_id, owner, channel) not in told]
            if due:
                found.append((channel, _alert(owner, due)))
    return found


def webhook(url: str, *, secret: str | None = None, attempts: int = 3) -> Channel:
    """A channel that posts each alert as JSON, signed where there is a secret (`text` is what chat services show).

    Raises ConfigurationError where the URL is none.
    """
    check_url(url)

    def send(alert: Alert) -> None:
        text = f"{alert.subject}\n{alert.text}"
        payload = {"event": "schema.drift", "text": text, **alert.model_dump(mode="json", exclude={"text"})}
        post_json(url, payload, secret=secret, attempts=attempts)

    return send


def mail(
    settings: MailServer, *, default: Sequence[str] = (), by_owner: Mapping[str, Sequence[str]] | None = None
) -> Channel:
    """A channel that sends each alert as plain text through an SMTP server.

    Args:
        settings: the server and the sender.
        default: who gets what nobody else does.
        by_owner: addresses by owner.

    The channel raises ConfigurationError where nobody would get an alert.
    """

    def send(alert: Alert) -> None:
        recipients = (by_owner or {}).get(alert.owner) or default
        if not recipients:
            raise ConfigurationError(f"no mail address for {alert.owner}: set NIGHTSHIFT_ALERTS__MAIL_TO")
        message = EmailMessage()
        # A name from the warehouse may hold a line break, which a header must not.
        message["Subject"] = " ".join(alert.subject.split())
        message["From"], message["To"] = settings.sender, ", ".join(recipients)
        message.set_content(alert.text)
        try:
            with settings.connect() as server:
                server.send_message(message)
        except (OSError, smtplib.SMTPException) as error:
            raise ServiceUnavailable(f"the mail server for drift alerts refused the message: {error}") from error

    return send


def callback(name: str, context: Mapping[str, Any] | None = None) -> Channel:
    """A channel that calls `package.module:function` with `{"alert": ..., **context}`, as Airflow calls its callbacks.

    Any notifier of Airflow that is an object in a module can be named. Raises ConfigurationError where there is no such
    object. What it raises becomes ServiceUnavailable: the alert counts as not sent.
    """
    module, _, attribute = name.partition(":")
    try:
        target = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigurationError(f"the callback for drift alerts, {name!r}, cannot be imported: {error}") from error
    if not callable(target):
        raise ConfigurationError(f"the callback for drift alerts, {name!r}, cannot be called")

    def send(alert: Alert) -> None:
        try:
            target({**(context or {}), "alert": alert.model_dump(mode="json")})
        except Exception as error:
            raise ServiceUnavailable(f"the callback for drift alerts failed: {error}") from error

    return send


def _by_owner(events: Sequence[DriftEvent]) -> dict[str, list[DriftEvent]]:
    """Events by owner, owners in order; one that touches nobody's work goes to `unowned`."""
    found: defaultdict[str, list[DriftEvent]] = defaultdict(list)
    for event in events:
        # The question of several batches has several owners.
        named = {name.strip() for item in event.change.affected for name in item.owner.split(",")} - {""}
        for owner in sorted(named or {NOBODY}):
            found[owner].append(event)
    return dict(sorted(found.items()))


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
    names = [
        item.question_id or item.id
        for item in change.affected
        if not item.owner or owner in [name.strip() for name in item.owner.split(",")]
    ]
    touched = f"; touches {', '.join(dict.fromkeys(names))}" if names else ""
    values = " -> ".join(" ".join(value.split()) for value in (change.before, change.after) if value)
    return f"[{event.event_id}] {change.severity}: {change.kind} {change.object} ({values}){touched}"
