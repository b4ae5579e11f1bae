"""Chat models behind any OpenAI-compatible endpoint, through langchain-openai, with structured output."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import BaseModel, SecretStr, ValidationError

from rag_core.connectors.base import PLAIN, Decoding, Output
from rag_core.connectors.chat_model_grammar import GrammarSupport, grammar_body
from rag_core.connectors.chat_model_ledger import CallResult, ModelCallLedger, PlannedCall, estimate_tokens
from rag_core.connectors.chat_model_output import first_problem, object_in, schema_of
from rag_core.connectors.chat_model_prices import Price, PriceTable
from rag_core.datamodel.answer import Usage, add_usage
from rag_core.errors import ConfigurationError, ModelFault, ServiceUnavailable
from rag_core.settings import ChatModelSettings

if TYPE_CHECKING:
    import openai
    from langchain_openai import ChatOpenAI

logger = logging.getLogger(__name__)

# Enough for a provider's minute-wise rate window to move on; a longer Retry-After means that nobody will answer soon.
MAX_ATTEMPTS = 5
MAX_WAIT_SECONDS = 30.0
FIRST_WAIT_SECONDS = 0.5
MAX_MALFORMED = 2
DEFAULT_OPENAI_MODEL = "gpt-4.1-mini"
CUT_OFF = "it was cut off because it was too long"


class SpentFault(ModelFault):
    """A ModelFault after calls that cost something: `usage` is what."""

    def __init__(self, message: str, usage: Usage) -> None:
        super().__init__(message)
        self.usage = usage


class _RequestRefused(ModelFault):
    """The endpoint does not take the request as it is put."""


class _Asked(NamedTuple):
    """One request: its messages, the schema of its reply or what the body holds in its place, and how it is drawn."""

    messages: list[tuple[str, str]]
    schema: dict[str, Any]
    body: dict[str, Any]
    drawn: dict[str, Any]

    def identity(self, settings: ChatModelSettings, name: str) -> str:
        """The same for the same request, over processes; a plain one keeps the name it had before there were others."""
        asked: list[Any] = [name, settings.base_url, settings.max_output_tokens, self.messages, self.schema]
        if self.body or self.drawn:
            asked += [self.body, self.drawn]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()


class _Reply(NamedTuple):
    """One reply: its text, what is wrong with its end (empty: nothing), and what is written down of it."""

    text: str
    problem: str
    result: CallResult


class OpenAIChatModel:
    """A `ChatModel` on one endpoint. Safe to use from several threads.

    Args:
        settings: endpoint, model, key, limits and prices.
        openai_api_key: the key where the settings have none; alone it means OpenAI's own endpoint.
        model: another model on the same endpoint (the router model), instead of `settings.model`.
        sleep: waits the given seconds; tests pass their own.
        ledger: accounts, budgets, rate limits and kept replies; None: calls are counted in their usage alone.
        prices: by model; a price in the settings goes before them for `settings.model`.
    """

    def __init__(
        self,
        settings: ChatModelSettings,
        *,
        openai_api_key: SecretStr | None = None,
        model: str | None = None,
        sleep: Callable[[float], None] = time.sleep,
        ledger: ModelCallLedger | None = None,
        prices: PriceTable | None = None,
    ) -> None:
        name = model or settings.model
        if name is None and (openai_api_key is None or settings.base_url is not None):
            raise ConfigurationError("no chat model is named: set NIGHTSHIFT_LLM__MODEL")
        self._name = name or DEFAULT_OPENAI_MODEL
        self._settings = settings
        self._key = settings.api_key or openai_api_key or SecretStr("none")  # local servers want any key
        self._sleep = sleep
        self._ledger = ledger
        self._price = _price_of(self._name, settings, prices or PriceTable())
        self._client: ChatOpenAI | None = None
        self._grammar = GrammarSupport(settings.grammar, settings.base_url)

    @property
    def model_id(self) -> str:
        """Name of the model as the endpoint knows it."""
        return self._name

    def _chat(self) -> ChatOpenAI:
        if self._client is None:
            from langchain_openai import ChatOpenAI  # noqa: PLC0415 - heavy

            self._client = ChatOpenAI(
                model=self._name,
                base_url=self._settings.base_url,
                api_key=self._key,
                temperature=0,
                max_completion_tokens=self._settings.max_output_tokens,
                timeout=self._settings.timeout_seconds,
                max_retries=0,  # counted and bounded here, with Retry-After
                use_responses_api=False,
            )
        return self._client

    def complete(
        self, system: str, user: str, output: type[Output], decoding: Decoding = PLAIN
    ) -> tuple[Output, Usage]:
        """One structured reply. Malformed output is asked for again at most twice, with what was wrong with it.

        Raises ModelFault (SpentFault with the usage) where it stays malformed, ServiceUnavailable where the endpoint
        does not answer, keeps refusing or refuses the key, ConfigurationError where it knows no such model.
        """
        messages = [("system", system), ("user", user)]
        usage = Usage()
        problem = ""
        for _ in range(MAX_MALFORMED + 1):
            text, problem, spent = self._call(messages, output, decoding)
            usage = add_usage(usage, spent)
            if not problem:
                try:
                    return output.model_validate(object_in(text)), usage
                except (ValidationError, ValueError) as error:
                    problem = first_problem(error)
            logger.info("chat model %s gave malformed output: %s", self._name, problem)
            messages = [
                ("system", system),
                ("user", user),
                # Much of a reply that went round in circles would set it going again.
                ("assistant", text[: 200 if problem == CUT_OFF else 2000] or "(nothing)"),
                ("user", f"That reply cannot be used: {problem}. Reply again with the JSON object alone, kept short."),
            ]
        raise SpentFault(f"the chat model's output stayed unusable: {problem}", usage)

    def _call(
        self, messages: list[tuple[str, str]], output: type[BaseModel], decoding: Decoding
    ) -> tuple[str, str, Usage]:
        """Text of the reply, what is wrong with its end (empty: nothing), and its usage.

        One that is refused with a grammar is made without.
        """
        drawn = {"temperature": decoding.temperature, "seed": decoding.draw} if decoding.draw else {}
        plain = _Asked(messages, schema_of(output), {}, drawn)
        body, usage = self._under_grammar(decoding)
        if body:
            try:
                text, problem, spent = self._reply(plain._replace(body=body))
                return text, problem, add_usage(usage, spent)
            except _RequestRefused:
                text, problem, spent = self._reply(plain)
                self._grammar.give_up()  # it was the grammar: without it the request went through
                return text, problem, add_usage(usage, spent)
        text, problem, spent = self._reply(plain)
        return text, problem, add_usage(usage, spent)

    def _under_grammar(self, decoding: Decoding) -> tuple[dict[str, Any], Usage]:
        """What the body holds for the grammar, empty where the endpoint takes none; and what it cost to find out."""
        usage = Usage()
        if decoding.grammar is None:
            return {}, usage

        def ask(body: dict[str, Any]) -> str:
            nonlocal usage
            try:
                text, _, usage = self._reply(_Asked([("user", "Say anything.")], {}, body, {}))
            except _RequestRefused:
                return ""
            return text

        kind = self._grammar.find_kind(self._owner, ask)
        grammar = decoding.grammar() if kind is not None else ""
        return grammar_body(kind, grammar) if kind is not None and grammar else {}, usage

    def _owner(self) -> str:
        """Who serves the model, as the endpoint lists it; empty where it lists nothing."""
        import openai  # noqa: PLC0415 - heavy

        try:
            listed = self._chat().root_client.models.list().data
        except openai.APIConnectionError as error:
            raise ServiceUnavailable("cannot connect to the chat model (NIGHTSHIFT_LLM__BASE_URL)") from error
        except openai.APIError:
            return ""
        named = [item for item in listed if item.id == self._name] or listed
        return named[0].owned_by if named else ""

    def _reply(self, asked: _Asked) -> tuple[str, str, Usage]:
        """As `_call`; a request that this run has made before is not made again: the ledger keeps the reply."""
        key = asked.identity(self._settings, self._name)
        kept = self._ledger.recall(key) if self._ledger is not None else None
        if kept is not None:
            return kept.text, kept.problem, kept.usage
        for attempt in range(1, MAX_ATTEMPTS + 1):
            reply = self._attempt(asked, key, attempt)
            if reply is not None:
                used = reply.result
                usage = Usage(
                    model_calls=1,
                    prompt_tokens=used.input_tokens,
                    completion_tokens=used.output_tokens,
                    cost_usd=used.cost_usd,
                )
                return reply.text, reply.problem, usage
        raise ServiceUnavailable(f"the chat model refused {MAX_ATTEMPTS} times in a row (rate limit or server error)")

    def _attempt(self, asked: _Asked, key: str, attempt: int) -> _Reply | None:
        """One request, written down in the ledger; None where it is to be made again, after the wait."""
        import openai  # noqa: PLC0415 - heavy

        call_no = self._admit(asked)
        started = time.perf_counter()
        try:
            reply = self._ask(asked, started)
        except openai.APIStatusError as error:
            self._settle(call_no, started, str(error.status_code))
            if isinstance(error, openai.RateLimitError | openai.InternalServerError):
                self._wait(error.response.headers, attempt, error.status_code)
                return None
            raise self._refusal(error) from error
        except openai.ContentFilterFinishReasonError as error:
            self._settle(call_no, started, "content_filter")
            raise ModelFault("the endpoint's content filter withheld the reply") from error
        except openai.APITimeoutError as error:
            self._settle(call_no, started, "timeout")
            raise ServiceUnavailable(
                f"the chat model did not answer within {self._settings.timeout_seconds:g} seconds "
                "(NIGHTSHIFT_LLM__TIMEOUT_SECONDS)"
            ) from error
        except openai.APIConnectionError as error:
            self._settle(call_no, started, "connection")
            raise ServiceUnavailable("cannot connect to the chat model (NIGHTSHIFT_LLM__BASE_URL)") from error
        except (openai.APIError, ValueError, TypeError, KeyError) as error:
            # A 200 whose body is not the protocol's, such as a proxy's page.
            self._settle(call_no, started, "protocol")
            raise ServiceUnavailable("the chat model's endpoint does not speak the OpenAI protocol") from error
        if self._ledger is not None and call_no is not None:
            self._ledger.keep(call_no, reply.result, request_key=key, reply=reply.text, problem=reply.problem)
        return reply

    def _ask(self, asked: _Asked, started: float) -> _Reply:
        import openai  # noqa: PLC0415 - heavy

        chat = self._chat()
        try:
            if asked.body:
                raw: Any = chat.invoke(asked.messages, extra_body=asked.body, **asked.drawn)
            else:
                # A schema as a dictionary keeps the raw reply and its usage where the reply does not fit the schema.
                model = chat.with_structured_output(
                    asked.schema, method="json_schema", include_raw=True, strict=True, **asked.drawn
                )
                raw = model.invoke(asked.messages)["raw"]
        except openai.LengthFinishReasonError as error:
            spent, completion = error.completion.usage, error.completion
            details = spent.prompt_tokens_details if spent else None
            result = self._result(
                started,
                spent.prompt_tokens if spent else 0,
                spent.completion_tokens if spent else 0,
                (details.cached_tokens or 0) if details else 0,
            )
            named = {"response_model": completion.model, "response_id": completion.id, "finish_reason": "length"}
            text = completion.choices[0].message.content or ""
            return _Reply(text, CUT_OFF, result.model_copy(update=named))
        tokens = raw.usage_metadata or {}
        cached = (tokens.get("input_token_details") or {}).get("cache_read") or 0
        result = self._result(started, tokens.get("input_tokens", 0), tokens.get("output_tokens", 0), cached)
        told = raw.response_metadata
        named = {
            "response_model": told.get("model_name"),
            "response_id": told.get("id") or raw.id,
            "finish_reason": told.get("finish_reason"),
        }
        refusal = raw.additional_kwargs.get("refusal")
        problem = f"it refused: {refusal}" if refusal else ""
        if named["finish_reason"] == "length":
            problem = CUT_OFF
        return _Reply(str(raw.content), problem, result.model_copy(update=named))

    def _refusal(self, error: openai.APIStatusError) -> Exception:
        """What a status that no repetition changes means for whoever can act."""
        import openai  # noqa: PLC0415 - heavy

        if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
            return ServiceUnavailable("the chat model refuses the key (NIGHTSHIFT_LLM__API_KEY)")
        if isinstance(error, openai.NotFoundError):
            return ConfigurationError(
                f"the endpoint knows no model {self._name} (NIGHTSHIFT_LLM__MODEL, NIGHTSHIFT_LLM__BASE_URL)"
            )
        return _RequestRefused(f"the endpoint refused the request with status {error.status_code}")

    def _admit(self, asked: _Asked) -> int | None:
        if self._ledger is None:
            return None
        # A grammar is no part of the prompt.
        schema = "" if asked.body else json.dumps(asked.schema)
        prompt = sum(estimate_tokens(text) for _, text in asked.messages) + estimate_tokens(schema)
        most = self._settings.max_output_tokens
        host = urlsplit(self._settings.base_url or "https://api.openai.com").hostname or ""
        return self._ledger.admit(
            PlannedCall(
                provider=_provider(host),
                server=host,
                model=self._name,
                max_tokens=most,
                input_tokens=prompt,
                output_tokens=most,
                temperature=asked.drawn.get("temperature", 0.0),
                cost_usd=self._price.cost(prompt, most) if self._price is not None else None,
            )
        )

    def _settle(self, call_no: int | None, started: float, error_type: str) -> None:
        if self._ledger is not None and call_no is not None:
            seconds = time.perf_counter() - started
            cost = 0.0 if self._price is not None else None
            self._ledger.settle(call_no, CallResult(seconds=seconds, error_type=error_type, cost_usd=cost))

    def _wait(self, headers: Mapping[str, str], attempt: int, status: int) -> None:
        seconds = max(FIRST_WAIT_SECONDS * 2 ** (attempt - 1), retry_after(headers))
        if seconds > MAX_WAIT_SECONDS:
            raise ServiceUnavailable(f"the chat model asks to wait {seconds:.0f} seconds (status {status})")
        if attempt < MAX_ATTEMPTS:
            logger.info("chat model %s answered %d, waiting %.1f s", self._name, status, seconds)
            self._sleep(seconds)

    def _result(self, started: float, prompt: int, completion: int, cached: int) -> CallResult:
        return CallResult(
            input_tokens=prompt,
            output_tokens=completion,
            cached_tokens=cached,
            cost_usd=self._price.cost(prompt, completion, cached) if self._price is not None else None,
            seconds=time.perf_counter() - started,
        )


def _price_of(name: str, settings: ChatModelSettings, prices: PriceTable) -> Price | None:
    given = (settings.price_per_million_prompt, settings.price_per_million_completion)
    if given[0] is not None and given[1] is not None and name in (settings.model, DEFAULT_OPENAI_MODEL):
        return Price(input=given[0], output=given[1])
    return prices.price_of(name)


def _provider(host: str) -> str:
    """OpenTelemetry's name of the provider, as far as the address tells it."""
    if host == "api.openai.com":
        return "openai"
    return "azure.ai.openai" if host.endswith(".azure.com") else "openai_compatible"


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds that the endpoint asks to wait: a number, a date, or OpenAI's milliseconds; 0 where it says nothing."""
    # What is absent or unreadable asks for nothing: the backoff does.
    with contextlib.suppress(ValueError):
        return float(headers.get("retry-after-ms", "")) / 1000
    text = headers.get("retry-after", "")
    with contextlib.suppress(ValueError):
        return float(text)
    with contextlib.suppress(ValueError):
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    return 0.0
