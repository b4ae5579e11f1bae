"""Accounts, budgets and rate limits against a stand-in of an endpoint and a real store."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, LiteralString

import psycopg
import pytest
from pydantic import BaseModel

from rag_core.connectors.base import Decoding
from rag_core.connectors.chat_model import OpenAIChatModel, retry_after
from rag_core.connectors.chat_model_context import calling
from rag_core.connectors.chat_model_ledger import CallLimits, ModelCallLedger
from rag_core.connectors.chat_model_prices import Price, PriceTable
from rag_core.connectors.store import Store
from rag_core.errors import BudgetExhausted, ConfigurationError, ServiceUnavailable
from rag_core.settings import ChatModelSettings
from tests.chat_endpoint import ChatEndpoint, serve_chat

pytestmark = pytest.mark.integration


class Thought(BaseModel):
    """One thought."""

    text: str


PRICES = PriceTable(models={"stand-in": Price(input=10.0, cached_input=2.0, output=50.0)})
# A reply of the stand-in takes 100 tokens, half of them cached, and 20.
COST = (50 * 10.0 + 50 * 2.0 + 20 * 50.0) / 1e6


@pytest.fixture(scope="module")
def ledger_dsn(create_store: Callable[[str], str]) -> str:
    """A store of its own: budgets of a day count what any test has used."""
    return create_store("ledger_test")


@pytest.fixture
def store(ledger_dsn: str) -> Iterator[Store]:
    with psycopg.connect(ledger_dsn) as connection:
        connection.execute("TRUNCATE reports.fact_model_call CASCADE")
    made = Store(ledger_dsn)
    yield made
    made.close()


@pytest.fixture
def endpoint() -> Iterator[ChatEndpoint]:
    with serve_chat({"Thought": Thought(text="yes")}) as served:
        yield served


def model_at(endpoint: ChatEndpoint, store: Store, limits: CallLimits | None = None, **more: Any) -> OpenAIChatModel:
    ledger = ModelCallLedger(store, limits, **{key: more.pop(key) for key in ("window_seconds",) if key in more})
    settings = ChatModelSettings(base_url=endpoint.url, model="stand-in", max_output_tokens=50)
    return OpenAIChatModel(settings, ledger=ledger, prices=more.pop("prices", PRICES), sleep=lambda _: None, **more)


def ask_often(model: OpenAIChatModel, times: int = 100) -> None:
    for number in range(times):
        model.complete("rules", f"question {number}", Thought)


def rows(store: Store, columns: LiteralString) -> list[tuple[Any, ...]]:
    with store.connection() as connection:
        found = connection.execute(f"SELECT {columns} FROM reports.fact_model_call ORDER BY call_no").fetchall()
    return [tuple(row) for row in found]


def test_a_call_is_written_down_with_what_it_took(endpoint: ChatEndpoint, store: Store) -> None:
    with calling(run_id="r1", question_id="q1", node="plan"):
        _, usage = model_at(endpoint, store).complete("rules", "question", Thought)
    assert usage.cost_usd == pytest.approx(COST)
    (row,) = rows(
        store,
        "run_id, question_id, node, state, gen_ai_operation_name, gen_ai_provider_name, gen_ai_request_model,"
        " gen_ai_response_model, gen_ai_response_finish_reason, gen_ai_usage_input_tokens, gen_ai_usage_output_tokens,"
        " gen_ai_usage_cache_read_input_tokens, error_type, cost_usd::float, gen_ai_client_operation_duration > 0",
    )
    assert row[:9] == (
        "r1", "q1", "plan", "done", "chat", "openai_compatible", "stand-in", "stand-in-2026", "stop",
    )  # fmt: skip
    assert row[9:13] == (100, 20, 50, None)
    assert row[13] == pytest.approx(COST)
    assert row[14] is True


def test_a_warm_call_is_written_down_as_one(endpoint: ChatEndpoint, store: Store) -> None:
    model = model_at(endpoint, store)
    model.complete("rules", "question", Thought, Decoding(draw=1, temperature=0.7))
    model.complete("rules", "question", Thought)
    assert rows(store, "gen_ai_request_temperature") == [(0.7,), (0.0,)]


def test_attempts_that_fail_are_written_down_and_cost_nothing(store: Store) -> None:
    replies = iter([(429, {"Retry-After": "1"}), (503, {}), Thought(text="yes")])
    with serve_chat({"Thought": lambda _: next(replies)}) as served:
        _, usage = model_at(served, store).complete("rules", "question", Thought)
    assert usage.model_calls == 1
    found = rows(store, "state, error_type, gen_ai_usage_input_tokens, cost_usd::float")
    assert found[:2] == [("failed", "429", 0, 0.0), ("failed", "503", 0, 0.0)]
    assert found[2][:2] == ("done", None)


def test_the_same_request_of_a_run_is_paid_once(endpoint: ChatEndpoint, store: Store) -> None:
    model, again = model_at(endpoint, store), model_at(endpoint, store)
    with calling(run_id="r1", question_id="q1"):
        _, first = model.complete("rules", "question", Thought)
        _, in_the_same_process = model.complete("rules", "question", Thought)
        _, after_a_crash = again.complete("rules", "question", Thought)
    with calling(run_id="r1", question_id="q2"):
        _, other_question = model.complete("rules", "question", Thought)
    assert len(endpoint.asked) == 1
    assert first == after_a_crash
    assert (in_the_same_process.model_calls, other_question.model_calls) == (0, 0)
    with calling(run_id="r2", question_id="q1"):
        model.complete("rules", "question", Thought)
    model.complete("rules", "question", Thought)
    model.complete("rules", "question", Thought)
    assert len(endpoint.asked) == 4, "another run asks anew, and outside a run nothing is kept"


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (CallLimits(run_tokens=500), "of 500 tokens of this run"),
        (CallLimits(day_tokens=500), "of 500 tokens of today"),
        (CallLimits(run_cost_usd=0.012), "of 0.012 USD of this run"),
        (CallLimits(day_cost_usd=0.012), "of 0.012 USD of today"),
    ],
)
def test_a_budget_stops_before_it_is_passed(
    endpoint: ChatEndpoint, store: Store, limits: CallLimits, words: str
) -> None:
    model = model_at(endpoint, store, limits)
    run_id = str(uuid.uuid4())
    with calling(run_id=run_id), pytest.raises(BudgetExhausted, match=words):
        ask_often(model)
    assert endpoint.asked
    ((tokens, cost),) = rows(
        store, "sum(gen_ai_usage_input_tokens + gen_ai_usage_output_tokens) OVER (), sum(cost_usd) OVER ()"
    )[:1]
    assert tokens <= 500 or limits.run_tokens is limits.day_tokens is None
    assert cost <= 0.012 or not limits.in_money


def test_a_budget_of_a_run_is_not_another_runs(endpoint: ChatEndpoint, store: Store) -> None:
    model = model_at(endpoint, store, CallLimits(run_tokens=300))
    for run_id in ("r1", "r2"):
        with calling(run_id=run_id):
            model.complete("rules", "question", Thought)
    with calling(run_id="r1"), pytest.raises(BudgetExhausted):
        ask_often(model, 5)


def test_a_call_of_a_killed_process_counts_with_its_estimate(endpoint: ChatEndpoint, store: Store) -> None:
    model = model_at(endpoint, store, CallLimits(day_tokens=400))
    with store.connection() as connection:
        connection.execute(
            "INSERT INTO reports.fact_model_call (run_id, question_id, node, state, gen_ai_provider_name,"
            " server_address, gen_ai_request_model, gen_ai_request_max_tokens, gen_ai_usage_input_tokens,"
            " gen_ai_usage_output_tokens) VALUES ('r0', '', '', 'running', 'x', 'x', 'stand-in', 50, 350, 50)"
        )
    with pytest.raises(BudgetExhausted):
        model.complete("rules", "question", Thought)
    assert endpoint.asked == []


def test_a_budget_in_money_needs_a_price(endpoint: ChatEndpoint, store: Store) -> None:
    model = model_at(endpoint, store, CallLimits(day_cost_usd=1), prices=PriceTable())
    with pytest.raises(ConfigurationError, match="no price"):
        model.complete("rules", "question", Thought)


@pytest.mark.parametrize("limits", [CallLimits(requests_per_minute=3), CallLimits(tokens_per_minute=420)])
def test_rate_limits_hold_over_threads_and_ledgers(endpoint: ChatEndpoint, store: Store, limits: CallLimits) -> None:
    window = 1.0
    models = [model_at(endpoint, store, limits, window_seconds=window) for _ in range(2)]

    def ask(name: int) -> None:
        for number in range(4):
            models[name].complete("rules", f"{name} {number}", Thought)

    threads = [threading.Thread(target=ask, args=(name,)) for name in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # By the store's clock: no window holds more than the limit.
    times = [row[0] for row in rows(store, "extract(EPOCH FROM started_at)::float")]
    assert len(times) == 8
    most = max(sum(start <= other < start + window for other in times) for start in times)
    assert most <= 3
    assert times[-1] - times[0] >= window


def test_a_wait_may_be_a_date_or_milliseconds() -> None:
    assert retry_after({"retry-after-ms": "1500"}) == 1.5
    assert retry_after({"retry-after": "7"}) == 7
    later = format_datetime(datetime.now(UTC) + timedelta(minutes=5), usegmt=True)
    assert 200 < retry_after({"retry-after": later}) <= 300
    assert retry_after({"retry-after": "soon"}) == retry_after({}) == 0


def test_a_wait_until_a_far_date_is_not_sat_out(store: Store) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    with serve_chat({"Thought": (503, {"Retry-After": later})}) as served, pytest.raises(ServiceUnavailable):
        model_at(served, store).complete("rules", "question", Thought)
    assert len(rows(store, "call_no")) == 1


def test_a_price_of_a_family_is_that_of_its_dated_release() -> None:
    table = PriceTable(models={"m": Price(input=1, output=1), "m-mini": Price(input=2, output=2)})
    assert table.price_of("m-2026-01-01") == table.models["m"]
    assert table.price_of("m-mini-2026-01-01") == table.models["m-mini"]
    assert table.price_of("m-max") is None
    assert Price(input=1, output=2).cost(1_000_000, 500_000, 400_000) == 2.0
