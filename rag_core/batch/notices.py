"""Tells people of a finished run: once a channel, however often it is tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.connectors.webhook import post_json
from rag_core.datamodel.base import Record
from rag_core.datamodel.question import Batch
from rag_core.datamodel.report import BatchOutcome
from rag_core.errors import ConfigurationError
from rag_core.reports.summary import RunSummary, in_trouble

# What a channel is called, and what hands one message over to it; it raises where that fails.
Channels = Mapping[str, Callable[["Notice"], None]]


class Notice(Record):
    """What is told of one run."""

    batch: Batch
    outcome: BatchOutcome
    summary: RunSummary

    def payload(self) -> dict[str, Any]:
        """The message as JSON."""
        return self.summary.payload(self.outcome)

    def channels(self) -> tuple[str, ...]:
        """The channels that the batch asks for; none where only trouble is told and there was none."""
        wanted = self.batch.notify
        if wanted.when == "trouble" and not in_trouble(self.outcome):
            return ()
        return (("email",) if wanted.email else ()) + (("webhook",) if wanted.webhook else ())


def read_notice(store: Store, run_id: str) -> Notice:
    """What is to be told of a run. Raises ConfigurationError where it has not ended."""
    with store.connection() as connection:
        row = connection.execute(statement("batches/find_finished_run"), {"run_id": run_id}).fetchone()
    if row is None:
        raise ConfigurationError(f"the batch run {run_id} has not ended")
    definition, outcome = row
    summary = RunSummary.model_validate(outcome.pop("summary"))
    return Notice(
        batch=Batch.model_validate(definition),
        outcome=BatchOutcome.model_validate({**outcome, "questions": ()}),
        summary=summary,
    )


def tell(store: Store, run_id: str, channels: Channels) -> tuple[str, ...]:
    """Tells of a run through each channel that its batch asks for, and returns those that took the message now.

    A channel that has taken it is not asked again, also where two tasks tell at once. Where one raises, the others are
    still told, and the first error is raised at the end.
    """
    notice = read_notice(store, run_id)
    told: list[str] = []
    fault: Exception | None = None
    for name in notice.channels():
        try:
            with store.connection() as connection:
                # The row is written before and kept only if the message was taken: a second teller waits here.
                claim = connection.execute(
                    statement("batches/insert_notice"), {"run_id": run_id, "channel": name}
                ).fetchone()
                if claim is not None:
                    channels[name](notice)
                    told.append(name)
        except Exception as error:  # noqa: BLE001 - raised below, after the other channels had their turn
            fault = fault or error
    if fault is not None:
        raise fault
    return tuple(told)


def webhook_channel(url: str | None, secret: str | None) -> Callable[[Notice], None]:
    """A channel that posts to the configured webhook, signed where there is a secret."""

    def send(notice: Notice) -> None:
        if url is None:
            raise ConfigurationError("a batch wants its webhook told: set NIGHTSHIFT_NOTIFY__WEBHOOK_URL")
        post_json(url, notice.payload(), secret=secret)

    return send
