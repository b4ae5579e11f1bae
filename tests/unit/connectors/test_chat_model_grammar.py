from __future__ import annotations

from typing import Any

import pytest

from rag_core.connectors.base import Decoding
from rag_core.connectors.chat_model import SpentFault
from rag_core.connectors.chat_model_grammar import PROBE_GRAMMAR, PROBE_WORD
from rag_core.errors import ModelFault
from tests.unit.connectors.test_chat_model import Endpoint, Thought, endpoint, model_at

__all__ = ["endpoint"]

GRAMMAR = 'root ::= "SELECT 1"\n'
UNDER = Decoding(grammar=lambda: GRAMMAR)
REPLY = '{"sql_query": "SELECT 1", "confidence": 1}'


def bodies(endpoint: Endpoint, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(request.get(name) for name in names) for request in endpoint.requests]


@pytest.mark.parametrize(
    ("owner", "field", "value"),
    [("llamacpp", "grammar", GRAMMAR), ("vllm", "structured_outputs", {"grammar": GRAMMAR})],
)
def test_a_server_that_decodes_under_a_grammar_is_probed_once_and_the_probe_is_counted(
    endpoint: Endpoint, owner: str, field: str, value: Any
) -> None:
    endpoint.owner = owner
    endpoint.says(PROBE_WORD, prompt=7, completion=2)
    endpoint.says(REPLY)
    endpoint.says(REPLY)
    model = model_at(endpoint)
    thought, usage = model.complete("rules", "question", Thought, UNDER)
    assert thought.sql_query == "SELECT 1"
    assert (usage.model_calls, usage.prompt_tokens, usage.completion_tokens) == (2, 107, 22)
    _, usage = model.complete("rules", "another", Thought, UNDER)
    assert usage.model_calls == 1
    probe = PROBE_GRAMMAR if field == "grammar" else {"grammar": PROBE_GRAMMAR}
    assert bodies(endpoint, field, "response_format") == [(probe, None), (value, None), (value, None)]


def test_a_server_that_ignores_the_grammar_gets_none(endpoint: Endpoint) -> None:
    endpoint.owner = "llamacpp"
    endpoint.says("Good morning!")
    endpoint.says(REPLY)
    endpoint.says(REPLY)
    model = model_at(endpoint)
    model.complete("rules", "question", Thought, UNDER)
    model.complete("rules", "another", Thought, UNDER)
    assert [grammar is None for (grammar,) in bodies(endpoint, "grammar")] == [False, True, True]
    assert all(request["response_format"] for request in endpoint.requests[1:])


def test_a_server_that_refuses_the_probe_gets_none(endpoint: Endpoint) -> None:
    endpoint.owner = "vllm"
    endpoint.fails(400)
    endpoint.says(REPLY)
    thought, usage = model_at(endpoint).complete("rules", "question", Thought, UNDER)
    assert (thought.sql_query, usage.model_calls) == ("SELECT 1", 1)


@pytest.mark.parametrize(("setting", "owner"), [("auto", "library"), ("off", "llamacpp")])
def test_another_server_and_a_setting_that_says_off_are_not_probed(
    endpoint: Endpoint, setting: str, owner: str
) -> None:
    endpoint.owner = owner
    endpoint.says(REPLY)
    asked: list[str] = []
    decoding = Decoding(grammar=lambda: str(asked.append("made")))
    _, usage = model_at(endpoint, grammar=setting).complete("rules", "question", Thought, decoding)
    assert (usage.model_calls, bodies(endpoint, "grammar", "structured_outputs"), asked) == (1, [(None, None)], [])


def test_a_named_kind_is_not_probed_and_given_up_once_it_is_refused(endpoint: Endpoint) -> None:
    endpoint.fails(400)
    endpoint.says(REPLY)
    endpoint.says(REPLY)
    model = model_at(endpoint, grammar="llama.cpp")
    thought, _ = model.complete("rules", "question", Thought, UNDER)
    assert thought.sql_query == "SELECT 1"
    model.complete("rules", "another", Thought, UNDER)
    assert bodies(endpoint, "grammar") == [(GRAMMAR,), (None,), (None,)]


def test_a_request_that_is_refused_without_the_grammar_too_does_not_speak_against_it(endpoint: Endpoint) -> None:
    endpoint.fails(400)
    endpoint.fails(400)
    endpoint.says(REPLY)
    model = model_at(endpoint, grammar="llama.cpp")
    with pytest.raises(ModelFault, match="status 400"):
        model.complete("rules", "a prompt that is too long", Thought, UNDER)
    model.complete("rules", "another", Thought, UNDER)
    assert [grammar for (grammar,) in bodies(endpoint, "grammar")] == [GRAMMAR, None, GRAMMAR]


def test_a_statement_that_the_grammar_lets_run_on_is_cut_off_and_asked_for_again(endpoint: Endpoint) -> None:
    for _ in range(3):
        endpoint.says('{"sql_query": "SELECT 1 + 1 + 1', finish="length")
    with pytest.raises(SpentFault, match="too long"):
        model_at(endpoint, grammar="llama.cpp").complete("rules", "question", Thought, UNDER)


def test_another_draw_is_warm_and_has_its_own_seed(endpoint: Endpoint) -> None:
    for _ in range(3):
        endpoint.says(REPLY)
    model = model_at(endpoint, grammar="llama.cpp")
    model.complete("rules", "question", Thought, Decoding(draw=2, temperature=0.7))
    model.complete("rules", "question", Thought, Decoding(draw=1, temperature=0.7, grammar=lambda: GRAMMAR))
    model.complete("rules", "question", Thought)
    assert bodies(endpoint, "temperature", "seed") == [(0.7, 2), (0.7, 1), (0, None)]
