"""Whether an endpoint decodes under a grammar, and how a request says so.

llama.cpp takes GBNF as `grammar`, vLLM (0.12 and later) as `structured_outputs.grammar`. Both refuse it beside a JSON
schema, so that the grammar is of the whole reply. Others ignore it or refuse the request, and llama.cpp answers without
one where it cannot read it: so `auto` asks what serves, and then for one word.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, Literal
from urllib.parse import urlsplit

logger = logging.getLogger(__name__)

GrammarKind = Literal["llama.cpp", "vllm"]
GrammarSetting = Literal["off", "auto", "llama.cpp", "vllm"]

PROBE_WORD = "nightshift"
PROBE_GRAMMAR = f'root ::= "{PROBE_WORD}"\n'
_SET: dict[str, GrammarKind] = {"llama.cpp": "llama.cpp", "vllm": "vllm"}
# What `GET /models` names as the owner of a model.
_OWNERS: dict[str, GrammarKind] = {"llamacpp": "llama.cpp", "vllm": "vllm"}


def grammar_body(kind: GrammarKind, grammar: str) -> dict[str, Any]:
    """What a request holds besides, to be decoded under the grammar."""
    return {"grammar": grammar} if kind == "llama.cpp" else {"structured_outputs": {"grammar": grammar}}


class GrammarSupport:
    """What one endpoint takes, found out once. Safe to use from several threads.

    Args:
        setting: off, a kind that is known to be served, or auto.
        base_url: the endpoint; None is OpenAI's own, which takes none.
    """

    def __init__(self, setting: GrammarSetting, base_url: str | None) -> None:
        host = urlsplit(base_url or "https://api.openai.com").hostname or ""
        hosted = host == "api.openai.com" or host.endswith(".azure.com")
        self._open = setting == "auto" and not hosted
        self._kind: GrammarKind | None = _SET.get(setting)
        self._lock = threading.Lock()

    def find_kind(self, owner: Callable[[], str], ask: Callable[[dict[str, Any]], str]) -> GrammarKind | None:
        """The kind of grammar that the endpoint decodes under; None for none.

        Args:
            owner: tells who serves the model, as the endpoint lists it; empty where it does not say.
            ask: makes one request with this in its body and gives the reply's text, empty where it is refused.
        """
        with self._lock:
            if self._open:
                kind = _OWNERS.get(owner())
                if kind is not None and ask(grammar_body(kind, PROBE_GRAMMAR)).strip() != PROBE_WORD:
                    logger.warning("the endpoint is %s and does not decode under a grammar", kind)
                    kind = None
                self._kind, self._open = kind, False
            return self._kind

    def give_up(self) -> None:
        """The endpoint refused a request for its grammar: none is sent any more."""
        with self._lock:
            logger.warning("the endpoint refuses a grammar: names are looked at after the reply")
            self._kind, self._open = None, False
