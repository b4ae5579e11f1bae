from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from rag_core.connectors.chat_model import OpenAIChatModel, SpentFault
from rag_core.connectors.chat_model_output import schema_of
from rag_core.datamodel.answer import Usage, add_usage
from rag_core.errors import ConfigurationError, ModelFault, ServiceUnavailable
from rag_core.settings import ChatModelSettings


class Thought(BaseModel):
    """One thought."""

    sql_query: str
    confidence: float = 0.5


class QuietServer(ThreadingHTTPServer):
    """A client that hangs up is what one of the tests wants."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


class Endpoint:
    """A stand-in of the OpenAI API on loopback: answers with the scripted replies in turn and keeps the requests."""

    def __init__(self) -> None:
        self.replies: list[tuple[int, dict[str, str], Any]] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.owner = "somebody"
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                listed = {"id": "stand-in", "object": "model", "created": 1, "owned_by": endpoint.owner}
                self._reply(200, {}, {"object": "list", "data": [listed]})

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                endpoint.requests.append(json.loads(self.rfile.read(length)))
                endpoint.keys.append(self.headers.get("Authorization"))
                self._reply(*endpoint.replies.pop(0))

            def _reply(self, status: int, headers: dict[str, str], body: Any) -> None:
                payload = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = QuietServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def says(self, content: str, *, finish: str = "stop", prompt: int = 100, completion: int = 20) -> None:
        body = {
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": "stand-in",
            "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content}}],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
            },
        }
        self.replies.append((200, {}, body))

    def fails(self, status: int, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.replies.append((status, named, {"error": {"message": "no", "type": "error"}}))


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    made = Endpoint()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def model_at(endpoint: Endpoint, waits: list[float] | None = None, **more: Any) -> OpenAIChatModel:
    settings = ChatModelSettings(base_url=endpoint.url, model="stand-in", **more)
    return OpenAIChatModel(settings, sleep=(waits if waits is not None else []).append)


def test_a_reply_is_read_and_its_usage_counted(endpoint: Endpoint) -> None:
    endpoint.says('{"sql_query": "SELECT 1", "confidence": 0.9}')
    model = model_at(endpoint, price_per_million_prompt=2.0, price_per_million_completion=8.0)
    thought, usage = model.complete("rules", "question", Thought)
    assert thought == Thought(sql_query="SELECT 1", confidence=0.9)
    assert (usage.model_calls, usage.prompt_tokens, usage.completion_tokens) == (1, 100, 20)
    assert usage.cost_usd == pytest.approx((100 * 2 + 20 * 8) / 1e6)


def test_the_request_is_structured_and_at_temperature_zero(endpoint: Endpoint) -> None:
    endpoint.says('{"sql_query": "SELECT 1", "confidence": 0.9}')
    model_at(endpoint, api_key=SecretStr("a-key")).complete("rules", "question", Thought)
    (request,) = endpoint.requests
    assert request["temperature"] == 0
    assert request["model"] == "stand-in"
    schema = request["response_format"]["json_schema"]
    assert schema["strict"] is True
    assert schema["schema"]["required"] == ["sql_query", "confidence"]
    assert [message["role"] for message in request["messages"]] == ["system", "user"]
    assert endpoint.keys == ["Bearer a-key"]


def test_malformed_output_is_asked_for_again_with_what_was_wrong(endpoint: Endpoint) -> None:
    endpoint.says("SELECT 1")
    endpoint.says('```json\n{"sql_query": "SELECT 2", "confidence": 1}\n```')
    thought, usage = model_at(endpoint).complete("rules", "question", Thought)
    assert thought.sql_query == "SELECT 2"
    assert usage.model_calls == 2
    assert "no JSON object" in endpoint.requests[1]["messages"][-1]["content"]


def test_malformed_output_ends_after_its_bound(endpoint: Endpoint) -> None:
    for _ in range(3):
        endpoint.says('{"confidence": 1}')
    with pytest.raises(SpentFault, match="sql_query") as caught:
        model_at(endpoint).complete("rules", "question", Thought)
    assert caught.value.usage.model_calls == 3
    assert len(endpoint.requests) == 3


def test_a_reply_that_was_cut_off_counts_as_malformed(endpoint: Endpoint) -> None:
    endpoint.says('{"sql_query": "SELECT' + " a AS a," * 200, finish="length")
    endpoint.says('{"sql_query": "SELECT 1", "confidence": 1}')
    thought, usage = model_at(endpoint).complete("rules", "question", Thought)
    assert thought.sql_query == "SELECT 1"
    assert usage.prompt_tokens == 200
    # What went round in circles is not read back to it as a whole.
    assert endpoint.requests[1]["messages"][2]["content"].count("AS a") < 30


def test_rate_limits_and_server_errors_are_waited_for(endpoint: Endpoint) -> None:
    endpoint.fails(429, Retry_After="7")
    endpoint.fails(503)
    endpoint.says('{"sql_query": "SELECT 1", "confidence": 1}')
    waits: list[float] = []
    _, usage = model_at(endpoint, waits).complete("rules", "question", Thought)
    assert waits == [7.0, 1.0]
    assert usage.model_calls == 1


def test_a_long_wait_is_not_sat_out(endpoint: Endpoint) -> None:
    endpoint.fails(429, Retry_After="3600")
    with pytest.raises(ServiceUnavailable, match="3600 seconds"):
        model_at(endpoint).complete("rules", "question", Thought)


def test_an_endpoint_that_keeps_failing_is_unavailable(endpoint: Endpoint) -> None:
    for _ in range(5):
        endpoint.fails(500)
    waits: list[float] = []
    with pytest.raises(ServiceUnavailable, match="5 times"):
        model_at(endpoint, waits).complete("rules", "question", Thought)
    assert waits == [0.5, 1.0, 2.0, 4.0]


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        (401, ServiceUnavailable, "API_KEY"),
        (404, ConfigurationError, "LLM__MODEL"),
        (400, ModelFault, "status 400"),
    ],
)
def test_refusals_name_what_to_do(endpoint: Endpoint, status: int, error: type[Exception], words: str) -> None:
    endpoint.fails(status)
    with pytest.raises(error, match=words):
        model_at(endpoint).complete("rules", "question", Thought)


def test_nobody_listening_is_unavailable(endpoint: Endpoint) -> None:
    settings = ChatModelSettings(base_url="http://127.0.0.1:9/v1", model="stand-in")
    with pytest.raises(ServiceUnavailable, match="BASE_URL"):
        OpenAIChatModel(settings).complete("rules", "question", Thought)


def test_a_silent_endpoint_is_unavailable(endpoint: Endpoint) -> None:
    release = threading.Event()

    class Slow(list[tuple[int, dict[str, str], Any]]):
        def pop(self, index: Any = -1) -> tuple[int, dict[str, str], Any]:
            release.wait(5)
            return (200, {}, {})

    endpoint.replies = Slow()
    try:
        with pytest.raises(ServiceUnavailable, match=r"within 0\.2 seconds"):
            model_at(endpoint, timeout_seconds=0.2).complete("rules", "question", Thought)
    finally:
        release.set()


@pytest.mark.parametrize("body", [b"<html>a proxy page</html>", {}, {"choices": None}])
def test_a_body_that_is_no_protocol_is_told(endpoint: Endpoint, body: Any) -> None:
    endpoint.replies.append((200, {}, body))
    with pytest.raises(ServiceUnavailable, match="protocol"):
        model_at(endpoint).complete("rules", "question", Thought)


def test_a_key_alone_means_openai() -> None:
    assert OpenAIChatModel(ChatModelSettings(), openai_api_key=SecretStr("k")).model_id
    with pytest.raises(ConfigurationError, match="LLM__MODEL"):
        OpenAIChatModel(ChatModelSettings(base_url="http://localhost/v1"))


def test_usage_adds_up_and_an_unknown_price_stays_unknown() -> None:
    priced = Usage(model_calls=1, prompt_tokens=10, completion_tokens=1, cost_usd=0.5)
    unpriced = Usage(model_calls=1, prompt_tokens=1, completion_tokens=1)
    assert add_usage(priced, Usage(), priced).cost_usd == 1.0
    assert add_usage(priced, unpriced).cost_usd is None
    assert add_usage().cost_usd is None


def test_a_schema_has_every_property_required_and_no_default() -> None:
    schema = schema_of(Thought)
    assert schema["required"] == ["sql_query", "confidence"]
    assert schema["additionalProperties"] is False
    assert "default" not in schema["properties"]["confidence"]
