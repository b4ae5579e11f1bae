"""Chat models behind any OpenAI-compatible endpoint, through langchain-openai, with structured output."""

from __future__ import annotations

import contextlib
import json
import logging
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, SecretStr, ValidationError

from rag_core.datamodel.answer import Usage, add_usage
from rag_core.errors import ConfigurationError, ModelFault, ServiceUnavailable
from rag_core.settings import ChatModelSettings

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI

logger = logging.getLogger(__name__)

Output = TypeVar("Output", bound=BaseModel)

# Enough for a provider's minute-wise rate window to move on; a longer Retry-After means that nobody will answer soon.
MAX_ATTEMPTS = 5
MAX_WAIT_SECONDS = 30.0
FIRST_WAIT_SECONDS = 0.5
MAX_MALFORMED = 2
DEFAULT_OPENAI_MODEL = "gpt-4.1-mini"


class SpentFault(ModelFault):
    """A ModelFault after calls that cost something: `usage` is what."""

    def __init__(self, message: str, usage: Usage) -> None:
        super().__init__(message)
        self.usage = usage


class OpenAIChatModel:
    """A `ChatModel` on one endpoint. Safe to use from several threads.

    Args:
        settings: endpoint, model, key, limits and prices.
        openai_api_key: the key where the settings have none; alone it means OpenAI's own endpoint.
        model: another model on the same endpoint (the router model), instead of `settings.model`.
        sleep: waits the given seconds; tests pass their own.
    """

    def __init__(
        self,
        settings: ChatModelSettings,
        *,
        openai_api_key: SecretStr | None = None,
        model: str | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        name = model or settings.model
        if name is None and (openai_api_key is None or settings.base_url is not None):
            raise ConfigurationError("no chat model is named: set NIGHTSHIFT_LLM__MODEL")
        self._name = name or DEFAULT_OPENAI_MODEL
        self._settings = settings
        self._key = settings.api_key or openai_api_key or SecretStr("none")  # local servers want any key
        self._sleep = sleep
        self._client: ChatOpenAI | None = None

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

    def complete(self, system: str, user: str, output: type[Output]) -> tuple[Output, Usage]:
        """One structured reply. Malformed output is asked for again at most twice, with what was wrong with it.

        Raises ModelFault (SpentFault with the usage) where it stays malformed, ServiceUnavailable where the endpoint
        does not answer, keeps refusing or refuses the key, ConfigurationError where it knows no such model.
        """
        messages = [("system", system), ("user", user)]
        usage = Usage()
        problem = ""
        for _ in range(MAX_MALFORMED + 1):
            text, problem, spent = self._call(messages, output)
            usage = add_usage(usage, spent)
            if not problem:
                try:
                    return output.model_validate(_object_in(text)), usage
                except (ValidationError, ValueError) as error:
                    problem = _first_problem(error)
            logger.info("chat model %s gave malformed output: %s", self._name, problem)
            messages = [
                ("system", system),
                ("user", user),
                ("assistant", text[:2000] or "(nothing)"),
                ("user", f"That reply cannot be used: {problem}. Reply again with the JSON object alone, kept short."),
            ]
        raise SpentFault(f"the chat model's output stayed unusable: {problem}", usage)

    def _call(self, messages: list[tuple[str, str]], output: type[BaseModel]) -> tuple[str, str, Usage]:
        """Text of the reply, what is wrong with its end (empty: nothing), and its usage."""
        import openai  # noqa: PLC0415 - heavy

        # A schema as a dictionary keeps the raw reply and its usage where the reply does not fit the schema.
        model = self._chat().with_structured_output(
            schema_of(output), method="json_schema", include_raw=True, strict=True
        )
        for attempt in range(1, MAX_ATTEMPTS + 1):
            try:
                reply = model.invoke(messages)
            except openai.LengthFinishReasonError as error:
                spent = error.completion.usage
                counts = (spent.prompt_tokens, spent.completion_tokens) if spent else (0, 0)
                text = error.completion.choices[0].message.content or ""
                return text, "it was cut off because it was too long", self._usage(*counts)
            except openai.ContentFilterFinishReasonError as error:
                raise ModelFault("the endpoint's content filter withheld the reply") from error
            except (openai.RateLimitError, openai.InternalServerError) as error:
                self._wait(error.response.headers, attempt, error.status_code)
            except openai.APITimeoutError as error:
                raise ServiceUnavailable(
                    f"the chat model did not answer within {self._settings.timeout_seconds:g} seconds "
                    "(NIGHTSHIFT_LLM__TIMEOUT_SECONDS)"
                ) from error
            except openai.APIConnectionError as error:
                raise ServiceUnavailable("cannot connect to the chat model (NIGHTSHIFT_LLM__BASE_URL)") from error
            except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
                raise ServiceUnavailable("the chat model refuses the key (NIGHTSHIFT_LLM__API_KEY)") from error
            except openai.NotFoundError as error:
                raise ConfigurationError(
                    f"the endpoint knows no model {self._name} (NIGHTSHIFT_LLM__MODEL, NIGHTSHIFT_LLM__BASE_URL)"
                ) from error
            except openai.APIStatusError as error:
                raise ModelFault(f"the endpoint refused the request with status {error.status_code}") from error
            except (openai.APIError, ValueError, TypeError, KeyError) as error:
                # A 200 whose body is not the protocol's, such as a proxy's page.
                raise ServiceUnavailable("the chat model's endpoint does not speak the OpenAI protocol") from error
            else:
                raw = reply["raw"]
                tokens = raw.usage_metadata or {}
                spent_now = self._usage(tokens.get("input_tokens", 0), tokens.get("output_tokens", 0))
                refusal = raw.additional_kwargs.get("refusal")
                return str(raw.content), f"it refused: {refusal}" if refusal else "", spent_now
        raise ServiceUnavailable(f"the chat model refused {MAX_ATTEMPTS} times in a row (rate limit or server error)")

    def _wait(self, headers: Mapping[str, str], attempt: int, status: int) -> None:
        seconds = FIRST_WAIT_SECONDS * 2 ** (attempt - 1)
        # Absent, or an HTTP date: the backoff does.
        with contextlib.suppress(ValueError):
            seconds = max(seconds, float(headers.get("retry-after", "")))
        if seconds > MAX_WAIT_SECONDS:
            raise ServiceUnavailable(f"the chat model asks to wait {seconds:.0f} seconds (status {status})")
        if attempt < MAX_ATTEMPTS:
            logger.info("chat model %s answered %d, waiting %.1f s", self._name, status, seconds)
            self._sleep(seconds)

    def _usage(self, prompt: int, completion: int) -> Usage:
        prices = (self._settings.price_per_million_prompt, self._settings.price_per_million_completion)
        cost = None
        if prices[0] is not None and prices[1] is not None:
            cost = (prompt * prices[0] + completion * prices[1]) / 1_000_000
        return Usage(model_calls=1, prompt_tokens=prompt, completion_tokens=completion, cost_usd=cost)


def schema_of(output: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema that goes to the endpoint: strict form, every property required and none besides."""
    schema = output.model_json_schema()
    for part in [schema, *schema.get("$defs", {}).values()]:
        if part.get("type") == "object":
            part["additionalProperties"] = False
            part["required"] = list(part.get("properties", {}))
            for declared in part.get("properties", {}).values():
                declared.pop("default", None)
    schema["title"] = output.__name__
    schema.setdefault("description", (output.__doc__ or output.__name__).strip().splitlines()[0])
    return schema


def _object_in(text: str) -> Any:
    """The JSON object in a reply, which may stand in a fence or behind words."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        raise ValueError("it holds no JSON object")
    try:
        return json.loads(text[start : end + 1], strict=False)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not valid JSON ({error.msg})") from error


def _first_problem(error: ValidationError | ValueError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(str(part) for part in first['loc']) or 'object'}: {first['msg']}"
    return str(error)
