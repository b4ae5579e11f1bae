"""Questions asked without waiting: each gets a ticket, its answer goes to a signed webhook, and it can be cancelled."""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal, Protocol

from rag_core.connectors.webhook import check_url, post_json
from rag_core.datamodel.answer import Answer
from rag_core.errors import ConfigurationError, NightshiftError

logger = logging.getLogger(__name__)

State = Literal["waiting", "running", "done", "cancelled", "failed"]
Post = Callable[..., None]


class Answering(Protocol):
    """What answers: an `Orchestrator`."""

    def answer(self, question: str, *, run_date: date, **more: Any) -> Answer:
        """The answer to one question."""
        ...


@dataclass(slots=True)
class Ticket:
    """A question that was handed in. `delivered` tells whether the webhook took the message, None without one."""

    ticket_id: str
    question: str
    webhook: str | None
    cancel: threading.Event = field(default_factory=threading.Event)
    state: State = "waiting"
    answer: Answer | None = None
    error: str = ""
    delivered: bool | None = None
    _future: Future[None] | None = None

    def wait(self, seconds: float | None = None) -> Answer | None:
        """The answer once it is there and delivered; None for a question that was cancelled or could not be asked.

        Raises TimeoutError where that takes longer than `seconds`.
        """
        assert self._future is not None
        if not self._future.cancelled():
            self._future.result(seconds)
        return self.answer


class Submissions:
    """Takes questions in and answers them in threads. Close it, or use it as a context manager.

    The webhook gets a POST with the JSON object `{ticket_id, state, question, answer, error}`, `answer` being the whole
    answer, and the header `X-Nightshift-Signature` (see `connectors.webhook.verify_signature`). Whoever receives it may
    get it twice and tells by the ticket.

    Args:
        orchestrator: what answers.
        secret: the key of the signature; webhooks are refused without one.
        workers: questions answered at a time.
        post: sends a message; tests pass their own.
    """

    def __init__(
        self, orchestrator: Answering, *, secret: str | None = None, workers: int = 2, post: Post = post_json
    ) -> None:
        self._orchestrator = orchestrator
        self._secret = secret
        self._post = post
        self._pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="nightshift-question")
        self._tickets: dict[str, Ticket] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Submissions:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, question: str, *, run_date: date, webhook: str | None = None, **more: Any) -> Ticket:
        """Takes a question in and returns at once.

        Args:
            question: in plain words.
            run_date: the day that relative times refer to.
            webhook: where the answer goes; None: it is fetched by `get` or `Ticket.wait`.
            more: what `Orchestrator.answer` takes besides.

        Raises ConfigurationError where the webhook is no URL or there is no secret to sign with.
        """
        if webhook is not None:
            check_url(webhook)
            if not self._secret:
                raise ConfigurationError("a webhook needs a secret, so that its receiver can tell who sent the answer")
        ticket = Ticket(ticket_id=str(uuid.uuid4()), question=question, webhook=webhook)
        with self._lock:
            self._tickets[ticket.ticket_id] = ticket
        ticket._future = self._pool.submit(self._work, ticket, {"run_date": run_date, **more})
        return ticket

    def get(self, ticket_id: str) -> Ticket:
        """The ticket of this id. Raises ConfigurationError where there is none."""
        with self._lock:
            found = self._tickets.get(ticket_id)
        if found is None:
            raise ConfigurationError(f"there is no question with the ticket {ticket_id}")
        return found

    def cancel(self, ticket_id: str) -> bool:
        """Stops a question: at once where it waits, before its next node where it runs; False where it had ended.

        The webhook is told of it.
        """
        ticket = self.get(ticket_id)
        with self._lock:
            if ticket.state not in ("waiting", "running"):
                return False
            ticket.cancel.set()
        return True

    def close(self, *, cancel: bool = False) -> None:
        """Waits for every question, or cancels them all first."""
        if cancel:
            for ticket_id in list(self._tickets):
                self.cancel(ticket_id)
        self._pool.shutdown(wait=True)

    def _work(self, ticket: Ticket, arguments: Mapping[str, Any]) -> None:
        with self._lock:
            ticket.state = "running"
        state: State = "done"
        try:
            if not ticket.cancel.is_set():
                ticket.answer = self._orchestrator.answer(ticket.question, cancel=ticket.cancel, **arguments)
        except NightshiftError as error:
            state, ticket.error = "failed", str(error)
        with self._lock:
            # An answer that was ready before the cancellation reached it is not given any more.
            if ticket.cancel.is_set():
                state, ticket.answer, ticket.error = "cancelled", None, ""
            ticket.state = state
        if ticket.webhook is not None:
            ticket.delivered = self._deliver(ticket, ticket.webhook)

    def _deliver(self, ticket: Ticket, webhook: str) -> bool:
        message = {
            "ticket_id": ticket.ticket_id,
            "state": ticket.state,
            "question": ticket.question,
            "answer": ticket.answer.model_dump(mode="json") if ticket.answer is not None else None,
            "error": ticket.error,
        }
        try:
            self._post(webhook, message, secret=self._secret)
        except NightshiftError as error:
            logger.warning("the answer of %s was not delivered: %s", ticket.ticket_id, error)
            return False
        return True
