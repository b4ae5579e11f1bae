"""The ledger of chat model calls in the store: accounting, budgets, rate limits, and replies paid for once.

A call is written down before it is made and settled after it. Budgets and rate limits are read from the same table, so
that they hold over all processes of an installation. The estimate of a call is counted while it runs, so that a budget
is never passed by more than the estimate is wrong.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from psycopg.rows import class_row

from rag_core.connectors.chat_model_context import call_context
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.answer import Usage
from rag_core.datamodel.base import Record
from rag_core.errors import BudgetExhausted, ConfigurationError

logger = logging.getLogger(__name__)

# Tokens are estimated from characters: English and SQL have about four in a token; three errs on the safe side.
CHARACTERS_PER_TOKEN = 3


class CallLimits(Record):
    """Bounds of an installation's calls; None is no bound. A day is one of UTC."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    run_tokens: int | None = None
    run_cost_usd: float | None = None
    day_tokens: int | None = None
    day_cost_usd: float | None = None

    @property
    def in_money(self) -> bool:
        """Whether a bound is in money, which needs prices."""
        return self.run_cost_usd is not None or self.day_cost_usd is not None


class PlannedCall(Record):
    """A call that is about to be made. Tokens and cost are the most it should take."""

    provider: str
    server: str
    model: str
    max_tokens: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None = None
    temperature: float = 0.0


class CallResult(Record):
    """What became of a call. `error_type` is the status or the kind of error, None where the endpoint replied."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = None
    seconds: float
    response_model: str | None = None
    response_id: str | None = None
    finish_reason: str | None = None
    error_type: str | None = None


class KeptReply(NamedTuple):
    """A reply that this run has paid for, and what is to be counted for it now."""

    text: str
    problem: str
    usage: Usage


class _Use(NamedTuple):
    """Positional, as `model_calls/read_use` gives it."""

    window_calls: int
    window_tokens: int
    window_opens_in: float
    day_tokens: int
    day_cost_usd: float
    run_tokens: int
    run_cost_usd: float


class _Kept(Record):
    call_no: int
    question_id: str
    reply: str
    problem: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


class ModelCallLedger:
    """The ledger in one store. Safe to use from several threads and processes.

    Args:
        store: where it is kept.
        limits: bounds of calls.
        window_seconds: length of the rate limits' window; a minute but in tests.
        sleep: waits the given seconds; tests pass their own.
    """

    def __init__(
        self,
        store: Store,
        limits: CallLimits | None = None,
        *,
        window_seconds: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._store = store
        self.limits = limits or CallLimits()
        self._window = window_seconds
        self._sleep = sleep
        self._counted: set[int] = set()
        self._lock = threading.Lock()

    def recall(self, request_key: str) -> KeptReply | None:
        """The reply that this run got to the very same request, None where it has not been made yet.

        Its usage is counted where this process has not counted it yet and the same question paid for it: a question
        that goes on after its process died costs what it cost.
        """
        who = call_context()
        if not who.run_id:
            return None
        with self._store.connection() as connection, connection.cursor(row_factory=class_row(_Kept)) as cursor:
            cursor.execute(statement("model_calls/find_reply"), {"run_id": who.run_id, "request_key": request_key})
            kept = cursor.fetchone()
        if kept is None:
            return None
        with self._lock:
            count = kept.call_no not in self._counted and kept.question_id == who.question_id
            self._counted.add(kept.call_no)
        usage = Usage()
        if count:
            usage = Usage(
                model_calls=1,
                prompt_tokens=kept.input_tokens,
                completion_tokens=kept.output_tokens,
                cost_usd=kept.cost_usd,
            )
        return KeptReply(kept.reply, kept.problem, usage)

    def admit(self, call: PlannedCall) -> int:
        """Writes a call down and gives its number; waits first where a rate limit wants it.

        Raises BudgetExhausted where a budget does not hold it, ConfigurationError where a budget is in money and the
        model has no price.
        """
        if self.limits.in_money and call.cost_usd is None:
            raise ConfigurationError(
                f"a budget in money is set and the model {call.model} has no price: "
                "add it to the file of NIGHTSHIFT_LLM__PRICES"
            )
        who = call_context()
        while True:
            with self._store.connection() as connection:
                # One at a time: two that read the same use would both believe in the last free place.
                connection.execute(statement("model_calls/lock_calls"))
                row = connection.execute(
                    statement("model_calls/read_use"), {"run_id": who.run_id, "window_seconds": self._window}
                ).fetchone()
                use = _Use(*row) if row is not None else _Use(0, 0, 0.0, 0, 0.0, 0, 0.0)
                self._check_budgets(call, use)
                wait = self._wait_for(call, use)
                if wait is None:
                    values = call.model_dump() | who.model_dump()
                    made = connection.execute(statement("model_calls/insert_call"), values).fetchone()
                    assert made is not None
                    return int(made[0])
            logger.info("the chat model's rate limit is reached, waiting %.1f s", wait)
            self._sleep(wait)

    def _check_budgets(self, call: PlannedCall, use: _Use) -> None:
        tokens, cost = call.input_tokens + call.output_tokens, call.cost_usd or 0.0
        for name, used, more, bound in (
            ("tokens of this run", use.run_tokens, tokens, self.limits.run_tokens),
            ("tokens of today", use.day_tokens, tokens, self.limits.day_tokens),
            ("USD of this run", use.run_cost_usd, cost, self.limits.run_cost_usd),
            ("USD of today", use.day_cost_usd, cost, self.limits.day_cost_usd),
        ):
            if bound is not None and used + more > bound:
                raise BudgetExhausted(f"budget: {used:,.6g} of {bound:,.6g} {name} are used, and a call needs more")

    def _wait_for(self, call: PlannedCall, use: _Use) -> float | None:
        """Seconds to wait, None where the call fits. One that is larger than the whole limit goes when it is alone."""
        calls, tokens = self.limits.requests_per_minute, self.limits.tokens_per_minute
        full = calls is not None and use.window_calls >= calls
        wanted = use.window_tokens + call.input_tokens + call.output_tokens
        full = full or (tokens is not None and use.window_calls > 0 and wanted > tokens)
        return max(0.02, use.window_opens_in) if full else None

    def settle(self, call_no: int, result: CallResult) -> None:
        """Writes down what became of a call."""
        self._settle(call_no, result, None)

    def keep(self, call_no: int, result: CallResult, *, request_key: str, reply: str, problem: str) -> None:
        """Settles a call and keeps its reply for the rest of the run, in one transaction."""
        with self._lock:
            self._counted.add(call_no)
        self._settle(call_no, result, {"request_key": request_key, "reply": reply, "problem": problem})

    def _settle(self, call_no: int, result: CallResult, kept: dict[str, str] | None) -> None:
        who = call_context()
        state = "done" if result.error_type is None else "failed"
        with self._store.connection() as connection:
            connection.execute(
                statement("model_calls/settle_call"), {"call_no": call_no, "state": state, **result.model_dump()}
            )
            if kept is not None and who.run_id:
                # PostgreSQL's text holds no zero character; a reply with one is malformed in any case.
                clean = {name: text.replace("\0", "") for name, text in kept.items()}
                values = {
                    "call_no": call_no,
                    "input_tokens": result.input_tokens,
                    "output_tokens": result.output_tokens,
                    "cost_usd": result.cost_usd,
                    **who.model_dump(),
                }
                connection.execute(statement("model_calls/insert_reply"), values | clean)


def estimate_tokens(text: str) -> int:
    """At least the tokens of a text, by its length."""
    return len(text) // CHARACTERS_PER_TOKEN + 1
